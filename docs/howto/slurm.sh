#!/bin/sh
# A sweep as a Slurm array: each task computes a shard, whichever node it runs on; the parts are then merged.
#   sbatch --wait --array=1-16 --cpus-per-task=4 slurm.sh deck.sp; vsim merge all.raw $(ls part.* | grep -v journal) --measures all.csv
# Again after an interruption: tasks go on where they were (--resume), those that were done compute nothing.
#SBATCH --array=1-4
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append
exec "${VSIM:-vsim}" "${1:-deck.sp}" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --resume \
    --jobs "${SLURM_CPUS_PER_TASK:-1}" -q -r "part.$SLURM_ARRAY_TASK_ID"
