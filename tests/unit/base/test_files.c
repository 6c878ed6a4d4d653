#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../suite.h"
#include "heap.h"
#include "stream.h"

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static void has(const char *path, const char *text)
{
    char buf[100] = "";
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(buf, sizeof buf, f));
    fclose(f);
    ck_assert_str_eq(buf, text);
}

/* In an empty folder, with a heap. */
static void in_folder(vs_status (*body)(void *))
{
    char folder[] = "/tmp/vsim-files-XXXXXX", command[100];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    heap *h = heap_new(0);
    ck_assert_int_eq(guard_run(h, body, NULL), VS_OK);
    heap_free(&h);
    ck_assert_int_eq(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static vs_status claim_inputs(void *arg)
{
    (void)arg;
    put("a", "a");
    ck_assert_int_eq(link("a", "hard"), 0);
    ck_assert_int_eq(symlink("a", "soft"), 0);
    ck_assert(files_input("a"));
    ck_assert(files_input("./a"));
    const char *const same[] = {"a", "./a", "hard", "soft"};
    for (size_t i = 0; i < VS_COUNT(same); i++) {
        errno = 0;
        ck_assert(!files_claim(same[i], FILES_BLOCK));
        ck_assert_int_eq(errno, FILES_IS_INPUT);
    }
    files_forget();
    ck_assert(files_claim("a", FILES_BLOCK));
    files_forget();
    return VS_OK;
}

static vs_status claim_outputs(void *arg)
{
    (void)arg;
    ck_assert(files_claim("new", FILES_RESULTS)); /* it does not exist yet */
    ck_assert(files_claim("./new", FILES_RESULTS));
    ck_assert(!files_claim("./new", FILES_MEASURES));
    ck_assert_int_eq(errno, FILES_IS_OUTPUT);
    ck_assert(files_refused(FILES_RESULTS));
    ck_assert(!files_refused(FILES_TRACE));
    ck_assert(!files_input("new"));
    ck_assert(!files_claim("new", FILES_RESULTS)); /* it is needed as an input */
    ck_assert(files_claim("/dev/null", FILES_RESULTS));
    ck_assert(files_claim("/dev/null", FILES_MEASURES));
    ck_assert(files_claim("own", FILES_BLOCK));
    ck_assert(files_input("own"));
    ck_assert(files_claim("own", FILES_BLOCK));
    files_forget();
    return VS_OK;
}

/* A file is deleted, and its inode may come to the next one. */
static vs_status use_inode_again(void *arg)
{
    (void)arg;
    put("old", "old");
    ck_assert(files_input("old"));
    ck_assert_int_eq(unlink("old"), 0);
    put("young", "young");
    ck_assert(files_claim("young", FILES_BLOCK));
    files_forget();
    return VS_OK;
}

static vs_status replace(void *arg)
{
    (void)arg;
    put("a", "old");
    FILE *f = stream_create("a", FILES_BLOCK);
    ck_assert_ptr_nonnull(f);
    fputs("new", f);
    fflush(f);
    has("a", "old");
    ck_assert_int_eq(stream_close(f), 0);
    has("a", "new");

    heap *h = heap_new(0), *outer = heap_use(h);
    f = stream_create("a", FILES_BLOCK);
    ck_assert_ptr_nonnull(f);
    fputs("half", f);
    heap_use(outer);
    heap_free(&h);
    has("a", "new");
    ck_assert_int_eq(system("test \"$(ls)\" = a"), 0);
    files_forget();
    return VS_OK;
}

static vs_status claim_patterns(void *arg)
{
    (void)arg;
    put("in.s2p", "x");
    put("other", "x");
    ck_assert_int_eq(link("other", "out.sp7.s2p"), 0);
    ck_assert(files_input("in.s2p"));
    ck_assert(files_input("other"));
    ck_assert(files_input("out.sp"));
    ck_assert(files_claim("in", FILES_RESULTS));
    ck_assert(!files_claim_all("in.s" FILES_DIGITS "p", FILES_TOUCHSTONE));
    ck_assert_int_eq(errno, FILES_IS_INPUT);
    ck_assert(files_claim_all("out.s" FILES_DIGITS "p", FILES_TOUCHSTONE)); /* not out.sp */
    ck_assert(files_claim_all("./out.sp" FILES_DIGITS ".s" FILES_DIGITS "p", FILES_TOUCHSTONE));
    for (int i = 0; i < 2; i++) /* a claim by its name does not become another */
        ck_assert(files_claim("out.s12p", FILES_TOUCHSTONE));
    ck_assert(!files_claim("out.s12p", FILES_RESULTS));
    ck_assert_int_eq(errno, FILES_IS_OUTPUT);
    ck_assert(files_claim("out.sxp", FILES_RESULTS));
    ck_assert(files_claim("out.s2pp", FILES_RESULTS));
    ck_assert(files_claim("out.sp.s2p", FILES_RESULTS));
    ck_assert(files_claim("out.sp10.s3p", FILES_TOUCHSTONE));
    ck_assert(!files_claim("out.sp7.s2p", FILES_TOUCHSTONE)); /* the input by another name */
    ck_assert_int_eq(errno, FILES_IS_INPUT);
    ck_assert(!files_input("out.sp8.s2p"));
    ck_assert(files_refused(FILES_TOUCHSTONE));
    files_forget();
    return VS_OK;
}

START_TEST(inputs_are_known_by_any_name) { in_folder(claim_inputs); }
END_TEST
START_TEST(a_claim_may_be_a_pattern) { in_folder(claim_patterns); }
END_TEST
START_TEST(a_file_takes_one_kind_of_output) { in_folder(claim_outputs); }
END_TEST
START_TEST(an_inode_that_is_used_again_is_another_file) { in_folder(use_inode_again); }
END_TEST
START_TEST(a_new_file_gets_its_name_when_it_is_whole) { in_folder(replace); }
END_TEST

START_TEST(the_heap_of_the_process_has_no_registry)
{
    ck_assert(files_input("x"));
    ck_assert(files_claim("x", FILES_RESULTS));
    ck_assert(files_claim("x", FILES_MEASURES));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base/files");
    TCase *tc = tcase_create("files");
    tcase_add_test(tc, inputs_are_known_by_any_name);
    tcase_add_test(tc, a_claim_may_be_a_pattern);
    tcase_add_test(tc, a_file_takes_one_kind_of_output);
    tcase_add_test(tc, an_inode_that_is_used_again_is_another_file);
    tcase_add_test(tc, a_new_file_gets_its_name_when_it_is_whole);
    tcase_add_test(tc, the_heap_of_the_process_has_no_registry);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
