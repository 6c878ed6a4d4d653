// d_process.v - a Verilog module beside a run of vsim: what d_process (docs/models/xspice.md) says
// and hears, for Icarus Verilog or another simulator that has $fgetc of the standard input.
//
//     iverilog -g2005 -DTOP=counter -DINPUTS=2 -DOUTPUTS=4 -o counter d_process.v counter.v
//     A1 [en up] clk reset [q0 q1 q2 q3] m
//     .model m d_process(process_file="./counter")
//
// TOP has the ports clk, reset, in [INPUTS-1:0] and out [OUTPUTS-1:0]. At each rising edge of the
// circuit's clk it gets the inputs and an edge of its own; what it then has at its outputs is the
// answer. Its time is one of edges: 10 units from one to the next.
`ifndef INPUTS
`define INPUTS 1
`endif
`ifndef OUTPUTS
`define OUTPUTS 1
`endif
module d_process;
    localparam STDIN = 32'h8000_0000, STDOUT = 32'h8000_0001;
    localparam IN_BYTES = (`INPUTS + 7) / 8, OUT_BYTES = (`OUTPUTS + 7) / 8;

    reg clk = 0, reset = 0;
    reg [8 * IN_BYTES - 1:0] in = 0;
    wire [`OUTPUTS-1:0] out;
    reg [8 * OUT_BYTES - 1:0] answer;
    integer c, i;

    `TOP top (.clk(clk), .reset(reset), .in(in[`INPUTS-1:0]), .out(out));

    // The next byte; the program ends where there is none.
    task get;
        begin
            c = $fgetc(STDIN);
            if (c < 0)
                $finish(0);
        end
    endtask

    initial begin
        for (i = 0; i < 3; i = i + 1)
            get; // 1, inputs, outputs
        $fwrite(STDOUT, "%c%c%c", 8'd1, `INPUTS, `OUTPUTS);
        $fflush(STDOUT);
        while (c >= 0) begin
            for (i = 0; i < 8; i = i + 1)
                get; // the time, a double
            reset = c >> 7;
            for (i = 0; i < IN_BYTES; i = i + 1) begin
                get;
                in[8 * i +: 8] = c;
            end
            #5 clk = 1;
            #5 clk = 0;
            answer = 0;
            for (i = 0; i < `OUTPUTS; i = i + 1)
                answer[i] = out[i] === 1'b1;
            for (i = 0; i < OUT_BYTES; i = i + 1)
                $fwrite(STDOUT, "%c", answer[8 * i +: 8]);
            $fflush(STDOUT);
        end
    end
endmodule
