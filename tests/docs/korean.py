"""Nothing English around Korean: the documented commands, the help of every command and the errors below answer in Korean, where each word in
small Latin letters is a name, a unit, an option or one of words.txt. korean.py REPOSITORY"""
import glob
import os
import re
import subprocess
import sys
import tempfile

root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".")
jeoul = os.path.abspath(os.environ["JEOUL"])
here = os.path.dirname(os.path.abspath(__file__))
allowed = set(open(here + "/words.txt", encoding="utf-8").read().split())
# what is typed, quoted, a formula, a path, a name with a digit or a capital in it is no word of a sentence
NO_WORD = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'|<[^>]*>|\S*[/=_@#$\\:.]\S*[\w)]|\S*[a-z]-\S*|--?[a-z][\w-]*( [A-Z,.|]+\b)?|jeoul( [a-z]+)+|[\w()+-]*[A-Z0-9][\w()+.-]*")
WORD = re.compile(r"[a-z]{2,}")
# lines that are to be copied, and what answers in English on purpose (JSON, man pages, completion, the columns of nccl-tests)
COPIED = re.compile(r"^ +(advanced:|horizontalPodAutoscalerConfig:|behavior:|scaleUp:|scaleDown:|triggers:|- type:|metadata:|query:|threshold:|vllm|python -m|trtllm-serve|--|\\|jeoul |mpirun|srun|sudo |deepspeed|torchrun)|^# |apt-get install |계산: |적힌$|적힌 값|쓸 수 있는 키: |^    값 = |^ +[=*/(+-]|^\$ ")
SKIP = re.compile(r"--json|--settings|--format|--lang|^jeoul (bench|web|man|completion|schema|import|store|calibrate|validate|catalog (sources|prices|search))|[|<>;&]")

ERRORS = """predict|predict nope --on h100-sxm5|predict llama-3-8b|predict llama-3-8b --on nope|predict llama-3-8b --on "8x h100"
predict llama-3-8b --on h100-sxm5 --batch x|predict llama-3-8b --on h100-sxm5 --batch 0|predict llama-3-8b --on h100-sxm5 --parallel foo=1
predict llama-3-8b --on h100-sxm5 --parallel tp=3|predict llama-3-8b --on h100-sxm5 --sweep foo=1|predict llama-3-8b --on h100-sxm5 --tune foo
predict llama-3-8b --on h100-sxm5 --catalog /nope|predict /nope/config.json --on h100-sxm5|predict --layers 12 --hidden 770 --heads 12 --on rtx-4090
predict llama-3-8b --on "8x h100-sxm5 via foo"|infer resnet50 --on rtx-4090|infer llama-3-70b --on rtx-4090|infer llama-3-8b --on rtx-4090 --engine foo
fit nope --on h100-sxm5|flops nope|plan llama-3-8b --on dgx-h100 --forbid foo|compare|compare --baseline v100-dgxs-32gb
compare --baseline v100-dgxs-32gb --observed 1.06 --on rtx-4090|compare --baseline v100-dgxs-32gb --observed "1.06 furlongs" --on rtx-4090
build|build --gpu rtx-4090 --psu 850|report /nope.yaml|report README.md|report /|audit catalog/rules.yaml|cost|cost --rent nope
cost --buy "rtx-3090 desktop 2200"|cost --buy "rtx-3090 desktop 2200 USD, watts=450"|cost --tariff nope --own rtx-3090|recommend
check nope|check allreduce --on "125x aws:p5.48xlarge" --size 16GB --algbw 156|bench foo|bench gemm --size x|bench cluster|import /nope
store show abcd1234|store merge /nope.db|catalog list foo|catalog show foo|catalog validate /nope|foo|--foo|web --port 0x|version|doctor|help
catalog list rules|catalog list tariffs|catalog list|catalog show nvlink2-mesh|catalog sources gpuinfo-table_gpu-agent|build --gpu "4x rtx-3090"
predict llama-3-8b --on "2x rtx-3090 + 2x rtx-4090"|predict gpt-305m --on rtx-3090 --explain|flops resnet50|cost --own "rtx-3090 desktop" --rent aws:p3.2xlarge
check allreduce --on "2x aws:p5.48xlarge" --size 16GB --algbw "34 GB/s"|plan llama-3-8b --gpus 8..64 --kinds h100-sxm5 --tokens 1e11 --deadline "10 d"
recommend --purpose kaggle|recommend llama-3-8b --tokens 1e12 --deadline "1 h"|infer llama-3-8b --on rtx-4090 --rate 5"""


def run(command, folder):
    env = dict(os.environ, NO_COLOR="1", COLUMNS="80", LC_ALL="C.UTF-8", JEOUL_TODAY="2026-11-15", PATH=folder + ":" + os.environ["PATH"],
               XDG_CONFIG_HOME=folder + "/.config", XDG_DATA_HOME=folder + "/.data")
    done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, cwd=root, timeout=120)
    return done.stdout.decode("utf-8")


def commands():
    for path in sorted(glob.glob(root + "/docs/cmd/*.md")):
        for line in open(path, encoding="utf-8"):
            if line.startswith("$ jeoul ") and not SKIP.search(line[2:]):
                yield line[2:].strip()
    for line in ERRORS.split("\n"):
        yield from ("jeoul " + c for c in line.split("|"))
    listed = subprocess.run([jeoul, "help", "all"], stdout=subprocess.PIPE, check=True, env=dict(os.environ, LC_ALL="C")).stdout.decode()
    yield from ("jeoul %s --help" % c for c in re.findall(r"^  ([a-z]+(?: [a-z]+)?)  ", listed, re.M))


bad, ran = [], 0
with tempfile.TemporaryDirectory() as folder:
    os.symlink(jeoul, folder + "/jeoul")
    for command in commands():
        ran += 1
        text = run(command + " --lang ko", folder)
        if not re.search("[가-힣]", text):
            bad.append((command, "no Korean", text[:100]))
        for line in text.split("\n"):
            line = line[26:] if "catalog list" in command else line  # ids stand in front
            words = [] if COPIED.search(line) else [w for w in WORD.findall(NO_WORD.sub(" ", line)) if w not in allowed]
            if words:
                bad.append((command, " ".join(words), line.strip()))
for b in bad:
    print("%s\n    %s: %s" % b)
print("%d commands, %d lines with English" % (ran, len(bad)))
sys.exit(bool(bad) or ran < 150)
