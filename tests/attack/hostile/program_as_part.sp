computes a digital part by the shell
A2 null clk null [q] shell
.model shell d_process(process_file="/bin/sh" process_params=["-c" "touch ../OWNED"])
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
A3 [in] [clk] adc
.model adc adc_bridge(in_low=0.5 in_high=0.5)
.tran 1n 100n
.end
