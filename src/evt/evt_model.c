/* evt_model.c - ports and parameters of the digital models, in the order of their connections and
 * of the numbers that their code (evt_gate.c, evt_flip.c, evt_table.c, evt_number.c) uses.
 * Source: ngspice manual, chapter "Digital models"; defaults as there. */
#include "evt.h"

#include <string.h>

#define INPUT(text) {.name = text}
#define OPTION(text) {.name = text, .null_ok = true}
#define INPUTS(text, n) {.name = text, .vector = true, .least = (n)}
#define OUTPUT(text) {.name = text, .out = true}
#define OUTPUT_OPTION(text) {.name = text, .out = true, .null_ok = true}
#define OUTPUTS(text) {.name = text, .out = true, .vector = true, .least = 1}

#define NUMBER_INPUT(text) {.name = text, .kind = EVT_NUMBER}
#define NUMBER_OUTPUT(text) {.name = text, .out = true, .kind = EVT_NUMBER}

#define LEAST_DELAY 0
#define MOST_DELAY 1e30
#define DELAY(text) {.name = text, .absent = 1e-9, .min = LEAST_DELAY, .max = MOST_DELAY}
#define SAMPLE_DELAY {.name = "delay", .absent = 1e-9, .min = 1e-15, .max = MOST_DELAY}
#define LOAD(text) {.name = text, .absent = 1e-12, .idle = true}
#define FAMILY {.name = "family", .kind = EVT_WORDS, .idle = true}
#define WHOLE(text, value, lo, hi) \
    {.name = text, .kind = EVT_INT, .absent = (value), .min = (lo), .max = (hi)}
#define INERTIAL {.name = "inertial_delay", .kind = EVT_BOOL}

#define GATE(name, inputs)                                                                 \
    {                                                                                      \
        name, {inputs, OUTPUT("out")},                                                     \
        {                                                                                  \
            DELAY("rise_delay"), DELAY("fall_delay"), INERTIAL, LOAD("input_load"), FAMILY \
        }                                                                                  \
    }
#define STORED OPTION("set"), OPTION("reset"), OUTPUT_OPTION("out"), OUTPUT_OPTION("nout")
#define FLIP_NUMBERS(clock)                                                       \
    DELAY(clock), DELAY("set_delay"), DELAY("reset_delay"), WHOLE("ic", 0, 0, 2), \
        DELAY("rise_delay"), DELAY("fall_delay")
#define SET_LOADS LOAD("set_load"), LOAD("reset_load")

static const evt_model models[] = {
    GATE("d_buffer", INPUT("in")),
    GATE("d_inverter", INPUT("in")),
    GATE("d_and", INPUTS("in", 2)),
    GATE("d_nand", INPUTS("in", 2)),
    GATE("d_or", INPUTS("in", 2)),
    GATE("d_nor", INPUTS("in", 2)),
    GATE("d_xor", INPUTS("in", 2)),
    GATE("d_xnor", INPUTS("in", 2)),
    {"d_tristate",
     {INPUT("in"), INPUT("enable"), OUTPUT("out")},
     {DELAY("delay"), LOAD("input_load"), INERTIAL, LOAD("enable_load"), FAMILY}},
    {"d_pullup", {OUTPUT("out")}, {LOAD("load")}},
    {"d_pulldown", {OUTPUT("out")}, {LOAD("load")}},
    {"d_open_c",
     {INPUT("in"), OUTPUT("out")},
     {DELAY("open_delay"), DELAY("fall_delay"), INERTIAL, LOAD("input_load"), FAMILY}},
    {"d_open_e",
     {INPUT("in"), OUTPUT("out")},
     {DELAY("rise_delay"), DELAY("open_delay"), INERTIAL, LOAD("input_load"), FAMILY}},
    {"d_dff",
     {INPUT("data"), INPUT("clk"), STORED},
     {FLIP_NUMBERS("clk_delay"), LOAD("data_load"), LOAD("clk_load"), SET_LOADS}},
    {"d_jkff",
     {INPUT("j"), INPUT("k"), INPUT("clk"), STORED},
     {FLIP_NUMBERS("clk_delay"), LOAD("jk_load"), LOAD("clk_load"), SET_LOADS}},
    {"d_tff",
     {INPUT("t"), INPUT("clk"), STORED},
     {FLIP_NUMBERS("clk_delay"), LOAD("t_load"), LOAD("clk_load"), SET_LOADS}},
    {"d_srff",
     {INPUT("s"), INPUT("r"), INPUT("clk"), STORED},
     {FLIP_NUMBERS("clk_delay"), LOAD("sr_load"), LOAD("clk_load"), SET_LOADS}},
    {"d_dlatch",
     {INPUT("data"), INPUT("enable"), STORED},
     {FLIP_NUMBERS("enable_delay"), DELAY("data_delay"), LOAD("data_load"), LOAD("enable_load"),
      SET_LOADS}},
    {"d_srlatch",
     {INPUT("s"), INPUT("r"), INPUT("enable"), STORED},
     {FLIP_NUMBERS("enable_delay"), DELAY("sr_delay"), LOAD("sr_load"), LOAD("enable_load"),
      SET_LOADS}},
    {"d_fdiv",
     {INPUT("freq_in"), OUTPUT("freq_out")},
     {WHOLE("div_factor", 2, 1, 1e9), WHOLE("high_cycles", 1, 1, 1e9), WHOLE("i_count", 0, 0, 1e9),
      DELAY("rise_delay"), DELAY("fall_delay"), LOAD("freq_in_load")}},
    {"d_source", {OUTPUTS("out")}, {{.name = "input_file", .kind = EVT_FILE}, LOAD("input_load")}},
    {"d_state",
     {{.name = "in", .vector = true, .least = 0, .null_ok = true},
      INPUT("clk"),
      OPTION("reset"),
      OUTPUTS("out")},
     {DELAY("clk_delay"),
      DELAY("reset_delay"),
      WHOLE("reset_state", 0, 0, 1e9),
      {.name = "state_file", .kind = EVT_FILE},
      LOAD("input_load"),
      LOAD("clk_load"),
      LOAD("reset_load")}},
    {"d_process",
     {{.name = "in", .vector = true, .most = 255, .null_ok = true},
      INPUT("clk"),
      OPTION("reset"),
      {.name = "out", .out = true, .vector = true, .least = 1, .most = 255}},
     {DELAY("clk_delay"),
      {.name = "reset_delay", .idle = true},
      {.name = "process_file", .kind = EVT_WORDS},
      {.name = "process_params", .kind = EVT_WORDS},
      {.name = "reset_state", .idle = true},
      LOAD("input_load"),
      LOAD("clk_load"),
      LOAD("reset_load")}},
    {"d_ram",
     {INPUTS("data_in", 1),
      OUTPUTS("data_out"),
      {.name = "address", .vector = true, .least = 1, .most = 20},
      INPUT("write_en"),
      {.name = "select", .vector = true, .least = 1, .most = 16}},
     {{.name = "read_delay", .absent = 100e-9, .min = LEAST_DELAY, .max = MOST_DELAY},
      WHOLE("select_value", 1, 0, 65535),
      WHOLE("ic", 2, 0, 2),
      LOAD("data_load"),
      LOAD("address_load"),
      LOAD("select_load"),
      LOAD("enable_load")}},
    {"d_lut",
     {{.name = "in", .vector = true, .least = 1, .most = 20}, OUTPUT("out")},
     {DELAY("rise_delay"),
      DELAY("fall_delay"),
      {.name = "table_values", .kind = EVT_WORDS},
      LOAD("input_load")}},
    {"d_genlut",
     {{.name = "in", .vector = true, .least = 1, .most = 16}, OUTPUTS("out")},
     {{.name = "rise_delay", .kind = EVT_LIST, .min = LEAST_DELAY, .max = MOST_DELAY},
      {.name = "fall_delay", .kind = EVT_LIST, .min = LEAST_DELAY, .max = MOST_DELAY},
      {.name = "input_delay", .kind = EVT_LIST, .min = LEAST_DELAY, .max = MOST_DELAY},
      {.name = "input_load", .kind = EVT_LIST, .idle = true},
      {.name = "table_values", .kind = EVT_WORDS}}},
    {"d_to_real",
     {INPUT("in"), OPTION("enable"), NUMBER_OUTPUT("out")},
     {{.name = "zero"}, {.name = "one", .absent = 1}, SAMPLE_DELAY}},
    {"real_gain",
     {NUMBER_INPUT("in"), NUMBER_OUTPUT("out")},
     {{.name = "in_offset"},
      {.name = "gain", .absent = 1},
      {.name = "out_offset"},
      SAMPLE_DELAY,
      {.name = "ic"}}},
    {"real_delay", {NUMBER_INPUT("in"), INPUT("clk"), NUMBER_OUTPUT("out")}, {SAMPLE_DELAY}},
};

const evt_model evt_bidi_model = {
    "bidi_bridge",
    {INPUT("in"), OPTION("dir"), OUTPUT("out")},
    {DELAY("rise_delay"), DELAY("fall_delay"), WHOLE("strength", 0, 0, 2)}};

const evt_model *evt_find_model(const char *type)
{
    for (size_t i = 0; i < VS_COUNT(models); i++)
        if (!strcmp(models[i].type, type))
            return &models[i];
    return NULL;
}

bool evt_lets_go(const evt_model *m)
{
    static const char *const type[] = {"d_tristate", "d_pullup", "d_pulldown", "d_open_c",
                                       "d_open_e",   "d_source", "d_state",    "d_ram",
                                       "d_genlut",   "d_process"};
    for (size_t i = 0; i < VS_COUNT(type); i++)
        if (!strcmp(type[i], m->type))
            return true;
    return false;
}

size_t evt_n_model(void) { return VS_COUNT(models); }

const evt_model *evt_model_at(size_t i) { return &models[i]; }
