#!/bin/bash
# The job of a Ray cluster: its head, or nodes that join it. Of several nodes, each other one runs this script in a step of the job.
#
#   node.sh ROLE NOTES BIN HEAD GPUS CPUS EXCLUSIVE
#     ROLE  head, or node     NOTES  a folder that the login node and all nodes see, with Ray's token in NOTES/token
#     BIN   the folder of ray and python        HEAD  host:port of the head's Ray; of the head itself: -
#     EXCLUSIVE  yes, if no other job shares the node
#
# NOTES/JOB.json says where the Ray of a head is. NOTES/JOB.log says what happened. Ray runs in the batch step itself: at a
# preemption Slurm sends SIGTERM to the processes of other steps at once, and to the batch step only when the grace time is over.
set -uo pipefail
umask 077
role=$1 notes=$2 bin=$3 head=$4 gpus=$5 cpus=$6 exclusive=$7
job=$SLURM_JOB_ID restart=${SLURM_RESTART_COUNT:-0}
say() { echo "$(date +%FT%T) $*" >>"$notes/$job.log"; }
fail() { say "$*"; exit 1; }
[ -O "$notes" ] || fail "the folder $notes belongs to another user"

# shellcheck source=/dev/null
if [ -s "$notes/setup.sh" ]; then . "$notes/setup.sh" >>"$notes/$job.log" 2>&1 || fail "setup.sh failed with $?"; fi
export RAY_USAGE_STATS_ENABLED=0 RAY_TMPDIR=/tmp/ray-$job-$restart RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=$notes/token
# Slurm sets all three, and verl refuses ROCR_VISIBLE_DEVICES beside CUDA_VISIBLE_DEVICES.
unset ROCR_VISIBLE_DEVICES GPU_DEVICE_ORDINAL
version=$("$bin/python" -c 'import ray; print(ray.__version__)' 2>>"$notes/$job.log") || fail "$bin/python cannot import ray"
if [ "$(printf '%s\n' 2.52 "$version" | sort -V | head -1)" != 2.52 ] && [ "$exclusive" != yes ]; then
  fail "Ray $version knows no tokens, so other users of the node could run code as this one: use Ray 2.52 or newer, or --exclusive"
fi

# A job that the site has started again has a new Ray.
rm -f "$notes/$job.json"
me=$(hostname -I | awk '{ print $1 }')
me=${me:-127.0.0.1} # loopback is all there is
# Ports by the job's number, so that jobs of one node do not meet: below Ray's own ports, which begin at 10002.
base=$((4000 + job * 4 % 5000))
options=(--block --node-ip-address="$me" --num-cpus="$cpus" --num-gpus="$gpus" --labels="slurm-job=$job"
  --dashboard-agent-listen-port=$((base + 2)))
if [ "$role" = head ]; then
  head=$me:$base
  options+=(--head --port="$base" --ray-client-server-port=$((base + 1)) --include-dashboard=false)
else
  options+=(--address="$head")
fi

# shellcheck disable=SC2016 # the inner shell expands them
if [ "$role" = node ] && ! timeout 20 bash -c ': <>"/dev/tcp/$1/$2"' sh "${head%:*}" "${head##*:}" 2>/dev/null; then
  fail "$(hostname) cannot reach the head's Ray at $head: the network between nodes must let jobs of one user reach each other"
fi

ended='' drained=''
time_left() {
  # Read anew each time: an operator may change the limit of a running job.
  local end
  end=$(SLURM_TIME_FORMAT=%s scontrol show job "$job" -o | grep -o 'EndTime=[0-9]*' | cut -d= -f2)
  echo $((${end:-0} - $(date +%s) - 5))
}
# The command line of a node's raylet has its id in Ray.
raylet() { pgrep -af raylet/raylet -P "$ray" | grep -o 'node_id=[0-9a-f]*' | head -1 | cut -d= -f2; }
drain() {
  local node
  drained=1
  say "drain, $1 s left: $2"
  for node in $3; do
    "$bin/ray" drain-node --address "$head" --node-id "$node" --reason DRAIN_NODE_REASON_PREEMPTION \
      --reason-message "$2" --deadline-remaining-seconds "$1" >>"$notes/$job.log" 2>&1
  done
}
# What ends with this job: its nodes, or all nodes of the head's Ray.
ending() {
  [ "$role" = head ] || [ -n "$others" ] || { raylet; return; }
  "$bin/python" -c 'import sys, ray
ray.init(address=sys.argv[1], logging_level="error", log_to_driver=False)
mine = lambda node: sys.argv[2] == "head" or node["Labels"].get("slurm-job") == sys.argv[3]
print(*(node["NodeID"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU") and mine(node)))' \
    "$head" "$role" "$job" 2>>"$notes/$job.log"
}
# The other nodes of the job, if it has some. They all leave together: the experiment that needs them needs all of them.
others=''
if [ "${SLURM_STEP_ID:-}" = "" ] && [ "${SLURM_JOB_NUM_NODES:-1}" -gt 1 ]; then
  srun --overlap --relative=1 --nodes=$((SLURM_JOB_NUM_NODES - 1)) --ntasks=$((SLURM_JOB_NUM_NODES - 1)) --kill-on-bad-exit=1 \
    --output="$notes/$job.others" bash "$notes/node.sh" "$@" &
  others=$!
fi
trap 'drain "$(time_left)" "the time limit of job $job" "$(ending)"' USR1
trap 'ended=1; [ -n "$drained" ] || drain 5 "job $job is cancelled or preempted" "$(raylet)"' TERM

"$bin/ray" start "${options[@]}" >>"$notes/$job.log" 2>&1 &
ray=$!
say "Ray $version starts on $me as $role"
if [ "$role" = head ]; then
  printf '{"job":"%s","head":"%s","client":"%s"}\n' "$job" "$head" "$me:$((base + 1))" >"$notes/$job.json.new"
  mv "$notes/$job.json.new" "$notes/$job.json"
fi
# `ray start --block` stays when its raylet has left after a drain, so the raylet itself is watched. A trap runs when `wait` returns.
seen=
while kill -0 "$ray" 2>/dev/null && [ -z "$ended" ]; do
  sleep 2 &
  wait $!
  if [ -n "$(raylet)" ]; then seen=1; elif [ -n "$seen" ]; then break; fi
  if [ -n "$others" ] && ! kill -0 "$others" 2>/dev/null; then say 'another node of the job has ended'; break; fi
done
say "ended${drained:+, drained}${ended:+, as Slurm takes the node}"
kill "$ray" ${others:+"$others"} 2>/dev/null
wait "$ray" ${others:+"$others"} 2>/dev/null
# Slurm shows a node that Ray lost as FAILED.
[ -n "$drained$ended" ]
