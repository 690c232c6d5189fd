// Every word of the page, in English and Korean. Sentences that a command tells come from the program itself (as: "html").
const table = {
  // frame
  ask: ["Ask", "질문"], whatif: ["What if", "바꿔 보기"], scaling: ["Scaling", "확장성"], price: ["Price and time", "비용과 시간"],
  buy: ["Buy or rent", "구매·임대"], serve: ["Serve", "서빙"], trust: ["Trust", "정확도"], machine: ["This machine", "이 장비"], reports: ["Reports", "보고서"],
  views: ["Views", "화면"], skip: ["Skip to the answer", "답으로 건너뛰기"], other_lang: ["한국어", "English"],
  in_krw: ["show money in won", "원화로 보기"], in_usd: ["show money in dollars", "달러로 보기"],
  copy: ["Copy as command", "명령으로 복사"], copied: ["Copied", "복사했습니다"], link_copied: ["The address holds this question", "주소에 이 질문이 담겨 있습니다"], working: ["weighing", "계산 중"],
  lost: ["The server does not answer. Is `jeoul web` still running?", "서버가 답하지 않습니다. `jeoul web`이 실행 중입니까?"],
  more: ["All of it, as the command tells it", "명령의 전체 출력"], close: ["Close", "닫기"], none: ["–", "–"],
  // the question
  model: ["model", "모델"], system: ["system", "시스템"], train: ["train", "학습"],
  q_verb: ["Train", ""], q_on: ["on", ""], q_end: ["", "에서 학습하면?"], q_serve_verb: ["Serve", ""], q_serve_end: ["", " 서빙하면?"],
  batch: ["batch per GPU", "GPU당 배치"], seq: ["sequence", "시퀀스"], precision: ["precision", "정밀도"], framework: ["framework", "프레임워크"],
  recompute: ["recompute", "재계산"], zero: ["ZeRO stage", "ZeRO 단계"], tokens: ["tokens to train on", "학습할 토큰"], auto: ["auto", "자동"], gpus: ["GPUs", "GPU 수"],
  gpu: ["GPU", "GPU"], per_host: ["per host", "노드당"], link: ["link", "연결"], hosts: ["hosts", "노드 수"], network: ["network", "네트워크"], as_listed: ["as listed", "사양대로"],
  build: ["Build a system", "시스템 조립"], drop: ["or drop a config.json, GGUF or safetensors file here", "또는 config.json, GGUF, safetensors 파일을 끌어다 놓으세요"],
  choose_file: ["choose a file", "파일 고르기"], this_machine: ["this machine", "이 장비"], unread: ["could not be read", "읽을 수 없습니다"],
  // the answer
  a_step: ["One step takes |.", "한 스텝에 | 걸립니다."], a_run: ["| tokens take |", "토큰 | 개에 |"], a_cost: [" and cost |", ", 비용은 |"], a_run_end: [".", "입니다."],
  a_if: ["With enough memory: ", "메모리가 충분하다면: "],
  a_fits: ["It fits: | of | per GPU.", "메모리에 들어갑니다: GPU당 | / |."], a_tight: ["It is tight: | of | per GPU.", "메모리가 빠듯합니다: GPU당 | / |."], a_not: ["It does not fit: | needed, | per GPU.", "메모리에 들어가지 않습니다: | 필요, GPU당 |."],
  a_doubt: ["It probably fits (|): | of | per GPU.", "메모리에 들어갈 가능성이 높습니다(|): GPU당 | / |."], a_not_doubt: ["It probably does not fit (|): | needed, | per GPU.", "메모리에 들어가지 않을 가능성이 높습니다(|): | 필요, GPU당 |."],
  plan: ["Plan", "실행 방식"], plan_changed: ["plan changed", "실행 방식 바뀜"], plan_was: ["(before: |)", "(이전: |)"], copies: ["| copies", "복제 |개"], micro: ["micro-batch |", "마이크로배치 |"], accumulated: ["× | passes", "× |번 누적"], seq_of: ["sequence |", "시퀀스 |"], one_copy: ["one copy, not divided", "나누지 않음"], zero_none: ["none", "쓰지 않음"],
  recompute_full: ["full recompute", "전체 재계산"], recompute_selective: ["selective recompute", "선택적 재계산"], recompute_none_short: ["none", "없음"], recompute_selective_short: ["selective", "선택적"], recompute_full_short: ["full", "전체"], v_plan: ["| × | of |, weights |", "| × |(전체 |장), 가중치 |"], n_copies: ["| copies", "복제 |개"], one_of: ["1 copy", "복제 1개"],
  a_bound: ["Most of the time goes into |.", "시간은 대부분 |에 쓰입니다."], a_rate: ["| tokens a second, | of what the GPUs could do.", "초당 |토큰, GPU 성능의 |."], a_sure: ["The brackets hold 80 % of such runs.", "실제 값은 80 % 확률로 괄호 안에 있습니다."],
  a_may: ["Surely fits:", "확실히 들어가려면:"], a_may_price: ["Price and time counts with a run that surely fits:", "‘비용과 시간’은 확실히 들어가는 실행으로 계산합니다:"],
  a_rent: ["Rent is | an hour a GPU (|: hosts with a network between them), a list price × | GPUs: the largest offer has |.", "임대료는 GPU당 시간당 |(|, 노드 사이 네트워크가 있는 상품)이고, 정가 × GPU |장입니다. 가장 큰 상품은 |장입니다."], a_rent_apart: ["Rent is | an hour a GPU (|: no network between hosts is listed), a list price × | GPUs: the largest offer has |.", "임대료는 GPU당 시간당 |(|, 노드 사이 네트워크 정보 없음)이고, 정가 × GPU |장입니다. 가장 큰 상품은 |장입니다."],
  a_samples: ["| samples a second.", "초당 샘플 |개."],
  time_goes: ["Where a step's time goes", "스텝 시간 구성"], memory: ["Memory per GPU", "GPU당 메모리"], assumed: ["Assumed", "가정"],
  compute: ["compute", "계산"], host_launch: ["host launches", "호스트 실행 지연"], tensor_parallel: ["tensor exchange", "텐서 교환"], context_parallel: ["context exchange", "문맥 교환"],
  expert_parallel: ["expert exchange", "전문가 교환"], pipeline_bubble: ["pipeline bubble", "파이프라인 빈틈"], pipeline_send: ["pipeline sends", "파이프라인 전송"], data_parallel: ["gradient exchange", "그래디언트 교환"],
  contention: ["contention", "경합"], optimizer: ["optimizer", "옵티마이저"], offload: ["offload", "오프로드"], input: ["input", "입력"],
  weights: ["weights", "가중치"], gradients: ["gradients", "그래디언트"], activations: ["activations", "활성값"], buffers: ["buffers", "버퍼"], context: ["context", "컨텍스트"], capacity: ["capacity", "용량"],
  // what if
  try: ["Try", "해볼 것"], pin: ["Pin as baseline", "기준으로 고정"], unpin: ["Drop baseline", "기준 해제"], baseline: ["baseline", "기준"], against: ["against the baseline", "기준과 비교"], now: ["now", "지금"],
  nothing_to_try: ["Nothing here gains 3 % or more.", "3 % 이상 나아질 것이 없습니다."], faster: ["| faster", "| 빨라짐"], slower: ["| slower", "| 느려짐"],
  c_global_batch: ["batch | over all GPUs", "전체 배치를 |로"], c_precision: ["|", "|"], c_compile: ["torch.compile", "torch.compile 사용"], c_zero: ["ZeRO-|", "ZeRO-|"], c_less_zero: ["less ZeRO", "ZeRO 줄이기"],
  c_fused: ["fused kernels (Unsloth)", "퓨전 커널(Unsloth) 사용"], c_flash: ["flash attention", "플래시 어텐션"], c_recompute: ["recompute", "재계산"], c_less_recompute: ["less recompute", "재계산 줄이기"], c_nvlink_bridge: ["NVLink bridges on pairs", "두 장씩 NVLink 브리지"], c_pad_vocabulary: ["pad the vocabulary", "어휘 패딩"], c_offload: ["keep states in the host", "상태를 호스트 메모리에 두기"], c_smaller_batch: ["smaller batch", "배치 줄이기"], c_interleave: ["interleave pipeline stages", "파이프라인 단계 교차 배치"], c_decode_on_gpu: ["decode on the GPU", "GPU에서 디코딩"], c_cpu_threads: ["more CPU threads", "CPU 스레드 늘리기"], c_storage: ["faster storage", "더 빠른 저장 장치"], drop_again: ["The file | was dropped here before; drop it again.", "앞서 끌어다 놓은 파일입니다(|). 다시 끌어다 놓으세요."],
  // scaling
  up_to: ["up to", "최대"], ideal: ["ideal", "선형 확장"], predicted: ["predicted", "예측"], measured: ["measured", "실측"], rate_tokens: ["tokens/s", "토큰/초"], samples_s: ["samples/s", "샘플/초"], speedup: ["speed-up", "배속"], throughput: ["samples a second", "초당 샘플"], efficiency: ["efficiency", "효율"], step: ["step", "스텝"],
  drop_log: ["Drop a log (nccl-tests, training log, our JSON) to put measured points beside it", "로그(nccl-tests, 학습 로그, jeoul JSON)를 놓으면 측정값을 나란히 보여 줍니다"], verdict: ["verdict", "판정"],
  s_answer: ["| GPUs against | with the same recipe: | times as fast.", "같은 설정으로 GPU |장은 |장보다 |배 빠릅니다."], s_best: ["Beyond |, twice the GPUs are less than 1.5 times as fast.", "|장을 넘으면 GPU를 두 배로 늘려도 속도는 1.5배가 안 됩니다."],
  s_dip: ["From | to | GPUs it gets only | times as fast.", "GPU를 |장에서 |장으로 늘리면 |배에 그칩니다."],
  s_above: ["Above 100 %: on more GPUs each sample takes less time in: |.", "효율이 100%를 넘는 이유: GPU가 많으면 샘플당 시간이 줄어드는 부분이 있습니다(|)."], s_other: ["another recipe", "다른 설정"],
  normal: ["normal", "정상"], low: ["low", "낮음"], high: ["high", "높음"], impossible: ["impossible", "불가능"], unknown: ["unknown", "알 수 없음"], noisy: ["too noisy", "잡음이 큼"],
  // price
  budget: ["budget", "예산"], deadline: ["deadline", "기한"], region: ["region", "지역"], vendor: ["accelerators", "가속기"], how: ["how", "방법"], rent: ["rent", "임대"], spot: ["spot", "스팟"], buy_new: ["buy new", "신품"], buy_used: ["buy used", "중고"],
  p_answer: ["Recommended: | |, |. The run takes |.", "추천은 | |입니다. 비용 |, 실행 시간 |."], p_none: ["Nothing fits these limits.", "이 조건에 맞는 것이 없습니다."], cost: ["cost", "비용"], run_time: ["time of the run", "실행 시간"], front: ["nothing is cheaper and faster than what is on the line", "선 위의 점보다 싸면서 빠른 것은 없습니다"],
  compared: ["Compared", "비교"], advised: ["advised", "추천"], log_scale: ["log scale", "로그 눈금"], pick: ["Choose up to four points to compare.", "점을 최대 네 개까지 고르면 비교합니다."], price_of: ["price of", "가격 기준일"], old: ["older than half a year", "반년이 넘음"], any: ["any", "모두"], one_run: ["for one run", "실행 한 번"],
  // buy
  util: ["utilisation", "가동률"], years: ["years of use", "사용 기간"], buy_price: ["price of the machine", "장비 가격"], rent_price: ["rent per hour", "시간당 임대료"], tariff: ["electricity", "전기 요금"], flat: ["flat price", "단일 단가"], kepco_general: ["KEPCO, general", "한전 일반용"], kepco_home: ["KEPCO, household", "한전 주택용"], watts: ["power draw", "소비 전력"], kwh_price: ["electricity price", "전기 단가"], over: ["over |", "| 초과"],
  b_after: ["Buying pays after |.", "| 뒤부터는 사는 쪽이 저렴합니다."], b_range: ["±20 % of |: | to |.", "| ±20 %: |–|."], b_tariff: ["Electricity: |.", "전기 요금: |."], b_never: ["Renting stays cheaper for | years.", "|년 동안은 빌리는 쪽이 저렴합니다."], b_paid: ["Paid in all", "누적 지출"], bought: ["bought", "구매"], rented: ["rented", "임대"], tornado: ["What moves the break-even: ±20 % of each", "손익분기를 좌우하는 것: 각각 ±20 %"],
  day: ["day", "일"], months: ["months", "개월"], year_n: ["| years", "|년"], hour_of: ["/h", "/시간"], per_s: ["|/s", "|건/초"],
  // serve
  rate: ["requests a second", "초당 요청"], prompt: ["prompt tokens", "입력 토큰"], answer: ["answer tokens", "출력 토큰"], ttft: ["first token", "첫 토큰"], tpot: ["each further token", "이후 토큰마다"], ttft_s: ["first token within (s)", "첫 토큰 목표 (초)"], tpot_s: ["further tokens within (s)", "이후 토큰 목표 (초)"], per_m: ["cost of a million answer tokens", "출력 토큰 100만 개의 비용"], knee: ["knee", "꺾이는 지점"], weights_as: ["weights", "가중치 형식"],
  v_answer: ["At |/s, nine in ten first tokens come within | and each further one within |.", "초당 요청 |건일 때 90 %는 첫 토큰이 | 안에, 이후 토큰이 | 안에 나옵니다."], v_over: ["Overloaded: it holds at most |/s. At |/s the queue grows by | a second.", "과부하입니다. 초당 최대 |건까지 감당하며, 초당 |건이 오면 대기열이 매초 |건씩 늘어납니다."], overload: ["overload", "과부하"], v_missed: ["The targets are missed, even with all of it.", "전부 써도 목표를 지키지 못합니다."], v_long: ["A request of | tokens is longer than the | that the model was made for: engines refuse it.", "요청 하나가 |토큰으로 이 모델의 컨텍스트 길이 |토큰보다 깁니다. 엔진이 거부합니다."], held: ["limit", "한계"], v_cost: ["A million answer tokens cost | on |.", "출력 토큰 100만 개에 | 듭니다(| 기준)."], v_enough: ["The targets need only | of the | GPUs.", "GPU | 중 |이면 목표를 지킵니다."], on_gpus: ["on |", "| 기준"], v_fits: ["The model does not fit.", "모델이 들어가지 않습니다."], sla: ["target", "목표"], latency: ["latency of nine in ten", "지연 시간 (90 %가 이 안)"], lat: ["latency", "지연 시간"],
  // trust
  t_unseen: ["Of sources that it never saw, half are predicted within |, nine in ten within |; | lie inside their interval.", "처음 보는 출처라면 절반은 오차 | 이내로, 90 %는 | 이내로 예측합니다. |가 구간 안에 듭니다."], t_fitted: ["Fitted on them too, the | runs below: half within |, nine in ten within |.", "모델을 맞추는 데 쓴 아래 측정 |건은 절반이 오차 |, 90 %가 | 이내입니다."], t_worst: ["The farthest off", "가장 많이 빗나간 측정"],
  t_answer: ["Half of | published runs are predicted within |, nine in ten within |.", "공개된 측정 |건 가운데 절반은 오차 | 이내로, 90 %는 | 이내로 예측합니다."], t_case: ["of your case", "이 경우"], t_all: ["all", "모두"], set: ["kind of run", "실행 종류"], x_measured: ["measured", "실측값"], y_predicted: ["predicted", "예측값"], error: ["error", "오차"],
  train_llm: ["language models, training", "언어 모델 학습"], train_other: ["vision, speech and others, training", "비전·음성 등 학습"], infer_llm: ["language models, serving", "언어 모델 서빙"], collectives: ["collectives", "집합 통신"], gpu_filter: ["GPU or model", "GPU나 모델"], inside: ["inside the interval", "구간 안"], outside: ["outside", "구간 밖"],
  row: ["line", "행"], why: ["what the time went into", "시간 구성"],
  // machine
  in_place: ["in place", "in-place"], out_of_place: ["out of place", "out-of-place"], n_ranks: ["| ranks", "랭크 |개"], n_workers: ["| workers", "워커 |개"], time_axis: ["time", "시간"], rate_axis: ["rate", "속도"], further: ["| more were measured again: jeoul store list", "두 번 이상 잰 항목이 |개 더 있습니다: jeoul store list"],
  live: ["Now", "지금 상태"], found: ["What is here", "구성"], checked: ["Is it normal?", "정상인가?"], history: ["Measured before", "측정 이력"], looking: ["Looking…", "살펴보는 중…"], no_gpu: ["no GPU", "GPU 없음"], load: ["load", "부하"], free: ["free", "여유"], once: ["What was measured twice or more has its chart here.", "두 번 이상 잰 항목은 여기에 그래프로 나옵니다."], nothing_stored: ["Nothing is measured yet: jeoul bench all --quick", "아직 측정한 것이 없습니다: jeoul bench all --quick"], busy: ["busy", "사용률"], power: ["power", "전력"], temperature: ["temperature", "온도"], clock: ["clock", "클럭"],
  // reports
  scenario: ["Scenario", "시나리오"], result: ["Result", "결과"], as_html: ["HTML", "HTML"], as_md: ["Markdown", "Markdown"], as_csv: ["CSV", "CSV"], as_yaml: ["YAML", "YAML"], print: ["Print", "인쇄"], example: ["example", "예"], open_file: ["open a file", "파일 열기"], download: ["Download", "내려받기"],
  // drawer
  d_value: ["Value", "값"], d_range: ["80 % interval", "80 % 구간"], d_origin: ["Origin", "종류"], d_formula: ["How", "계산"], d_source: ["Source", "출처"], d_near: ["Nearest published runs", "가장 가까운 공개 측정"], estimated: ["estimated", "추정"], listed: ["listed", "사양·가격표"], given: ["given", "입력"], published: ["published", "공개 측정"], method: ["docs/METHOD.md", "docs/METHOD.md"], near_wait: ["looking", "찾는 중"], ratio: ["predicted / measured", "예측/측정"],
  global_batch: ["global batch", "전체 배치"], foot: ["Every figure says where it comes from: open it.", "숫자를 누르면 출처가 나옵니다."], marks: ["● measured · ◆ published · ◇ listed · ○ estimated", "● 실측 · ◆ 공개 측정 · ◇ 사양·가격표 · ○ 추정"], offline: ["Works offline; nothing leaves this machine.", "오프라인에서 동작하고, 아무것도 밖으로 보내지 않습니다."],
};
// Korean endings by the last sound of what stands before them, as it is read: h100-sxm5 ends in 오, gpt-305m in 엠.
export function ending(word, after, other) {
  const last = [...word.replace(/[)\]"']+$/, "")].at(-1) ?? "", code = last.charCodeAt(0) - 0xac00;
  if (code >= 0 && code < 11172) return code % 28 === 0 || (code % 28 === 8 && after === "으로") ? other : after;
  if (/[aeiou][a-z]*r$/i.test(word)) return other; // 위스퍼
  return /[lmnr013678]/i.test(last) && !(after === "으로" && /[lr178]/i.test(last)) ? after : other;
}
let at = 0;
export const setLang = (lang) => { at = lang === "ko" ? 1 : 0; };
export const t = (key) => (table[key] ? table[key][at] : key);
// "a | b |": the parts around what is put in.
export const parts = (key) => t(key).split("|");
// A part of a whole: Korean names the whole first.
export const partOf = (part, whole) => (at ? `${whole} 중 ${part}` : `${part} of ${whole}`);
export const fill = (key, ...values) => parts(key).reduce((all, part, i) => all + values[i - 1] + part);
