"""A claim as somebody types it, in English or Chinese → what is claimed, of which cards and which model.

A text is taken apart from the inside: first figures whose unit leaves no doubt ("5000 tok/s", "¥100,000", "60 kW"),
then names of the catalog, the longest first, with how many of them; then the rest. What was taken is masked, so that
nothing is read twice. Every pattern is a chain without nested repeats, and a text has at most `LONGEST` characters:
reading takes milliseconds whatever is typed. Nothing is guessed in silence: what is not stated stays None, and figures
that no pattern took are listed as `ignored`.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from gpuplanner.catalog import query
from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Gpu, Llm
from gpuplanner.i18n.parse import parse_money, parse_quantity
from gpuplanner.model.case import IdentityCache
from gpuplanner.model.plan import Money
from gpuplanner.units import GIB

LONGEST = 600
_MOST_TOKENS = 1e15
# Servers of data-centre cards hold eight where nobody says how many.
_PER_SERVER = 8
# A model of "70B" has so many parameters, give or take.
_SIZE_ROOM = 0.12
_USUAL_FAMILIES = ("Llama", "Qwen", "Mistral", "DeepSeek")
_LONGEST_NAME = 9


class Cards(NamedTuple):
    """Cards that a claim speaks of. `names` are all entries that may be meant; `text` is how they were called."""

    names: tuple[str, ...]
    text: str
    per_server: int = 1
    servers: int = 1
    # Whether the claim says how many; else one is taken.
    counted: bool = False
    # A whole server is meant, not the cards alone.
    whole: bool = False
    # "4 台 H20": machines, with as many cards in each as is usual.
    by_machine: bool = False
    # Cards that stand for "a 24 GB card".
    by_size: bool = False
    server: str = ""

    @property
    def total(self) -> int:
        return self.per_server * self.servers


class Claim(NamedTuple):
    """What is claimed. `kind` says what `value` is; what the text leaves open is None or empty.

    throughput [tok/s], first_token [s], per_token [s], prefill [tok/s], ratio, speedup, price, memory, power [W],
    training_time [s], training_rate [tok/s], mfu, peak [FLOP/s], bandwidth [B/s], need [bytes of memory]
    """

    kind: str
    value: float
    text: str
    cards: tuple[Cards, ...] = ()
    llm: str = ""
    # The model stands for a size ("70B").
    llm_by_size: bool = False
    # A format, or a width alone: "16-bit", "8-bit", "4-bit".
    weights: str = ""
    runtime: str = ""
    batch: float | None = None
    prompt: int | None = None
    answer: int | None = None
    # "user" (one reader), "all", "gpu", or empty where it is not said.
    scope: str = ""
    counts_prompt: bool = False
    # "train", "finetune", "prefill", "decode", "serve", or empty.
    work: str = ""
    tokens: float | None = None
    money: Money | None = None
    condition: str = ""
    sparse: bool = False
    negated: bool = False
    # Figures that no pattern understood.
    ignored: tuple[str, ...] = ()


class Unread(NamedTuple):
    """Why a text is not understood: a key, and what it is about."""

    reason: str
    about: str = ""


# --- text --------------------------------------------------------------------------------------------------------

_MASK = "\ue000"
_PLAIN = str.maketrans(
    {"，": ",", "。": ".", "；": ";", "：": ":", "（": "(", "）": ")", "￥": "¥", "～": "~", "、": ","}
)
_GLUED_BEFORE = re.compile(r"(?<![a-z0-9.])(\d{1,5})x(?=[a-z])")
_GLUED_BEHIND = re.compile(r"([a-z]\d{1,4}[a-z]{0,2})[x*](\d{1,4})(?!\w)")


def _normalised(text: str) -> str:
    """Lower case, plain punctuation, single spaces, no control characters."""
    plain = unicodedata.normalize("NFKC", text).translate(_PLAIN).casefold()
    plain = "".join(character if character.isprintable() and character != _MASK else " " for character in plain)
    plain = plain.replace("×", "x").replace("−", "-").replace("–", "-").replace("’", "'")
    plain = " ".join(plain.split())
    return _GLUED_BEHIND.sub(r"\1 x \2 ", _GLUED_BEFORE.sub(r"\1x ", plain))


class _Text:
    """A text of which parts are taken."""

    def __init__(self, text: str) -> None:
        self.left = text

    def take(self, start: int, end: int) -> None:
        self.left = self.left[:start] + _MASK * (end - start) + self.left[end:]

    def find(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The first place where the pattern fits, taken."""
        match = pattern.search(self.left)
        if match is not None:
            self.take(*match.span())
        return match

    def has(self, pattern: re.Pattern[str]) -> bool:
        return pattern.search(self.left) is not None


def _words(*words: str) -> re.Pattern[str]:
    """Any of these words: Latin ones stand alone, Chinese ones anywhere."""
    latin = [re.escape(word) for word in words if word.isascii()]
    other = [re.escape(word) for word in words if not word.isascii()]
    parts = ([rf"(?<![a-z0-9])(?:{'|'.join(latin)})(?![a-z0-9])"] if latin else []) + other
    return re.compile("|".join(parts))


_N = r"(?:\d{1,3}(?:,\d{3}){1,5}|\d{1,15})(?:\.\d{1,9})?"
_STEP = r"(?:k|m|b|t|thousand|million|billion|trillion|万亿|百万|千万|亿|万|千|百)"
_NUMERALS = {
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "十": 10,
    "半": 0.5,
}
_NUMBER_WORDS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twelve": 12, "dozen": 12, "sixteen": 16, "single": 1, "half": 0.5, "half a": 0.5, "half an": 0.5,
    "a half": 0.5, "hundred": 100, "a hundred": 100, "half the": 0.5, **_NUMERALS,
}  # fmt: skip
_ENGLISH_NUMBER = r"(?:half an?|half|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|sixteen)"
_CHINESE_NUMBER = "[一二两三四五六七八九十半]"
_WORD_NUMBER = rf"(?:{_ENGLISH_NUMBER}|{_CHINESE_NUMBER})"


def _number(text: str) -> float | None:
    """A number in digits, with a large-number word, or in words."""
    text = text.strip()
    if text in _NUMBER_WORDS:
        return float(_NUMBER_WORDS[text])
    return parse_quantity(text, "count")


_TOKEN = r"(?:tokens?|toks?|tks?|词元|字)"
_PER_SECOND = r"(?: ?/ ?(?:s(?:ec(?:onds?)?)?|秒)(?![a-z])| per sec(?:onds?)?| a second|每秒)"
_RATES = (
    re.compile(rf"({_N} ?{_STEP}?) ?(?:(?:output|input|total|prompt) )?{_TOKEN}{_PER_SECOND}"),
    re.compile(rf"({_N} ?{_STEP}?) ?(?:t ?/ ?s|tps)(?![a-z0-9])"),
    re.compile(rf"每秒(?:钟)? ?(?:约|可达|达到|输出|生成|处理)? ?({_N} ?{_STEP}?) ?(?:个)? ?{_TOKEN}"),
    re.compile(rf"{_TOKEN} ?(?:/ ?s|per second) ?[:=]? ?({_N} ?{_STEP}?)(?![a-z0-9])"),
)
_MARK = r"(?:us ?\$|hk ?\$|nt ?\$|\$|¥|€|£|rmb|cny|usd|eur|gbp)"
_MONEY = (
    re.compile(rf"{_MARK} ?{_N} ?(?:{_STEP}(?![a-z]))?(?: ?(?:usd|cny|rmb|元))?"),
    re.compile(
        rf"{_N} ?{_STEP}? ?(?:usd|cny|rmb|eur|gbp|us dollars?|dollars?|euros?|pounds?|yuan|美元|美金|欧元|港元|英镑"
        r"|元|人民币|块钱)(?![a-z])"
    ),
)
# "220 万" beside a card and nothing else is an amount of yuan.
_YUAN = re.compile(rf"({_N} ?(?:百万|千万|万|亿))(?![a-z]| ?token)")
_PER_HOUR = re.compile(
    r"(?:per|an|a|/) ?(?:gpu[ -]?|card[ -]?)?(?:hours?|hr|h)(?![a-z])|(?<![a-z])(?:rent|rental|rents|renting)(?![a-z])"
    r"|每(?:卡|张)?小时|/ ?小时|卡时|租"
)
_MONEY_WORDS = {"us dollars": "usd", "us dollar": "usd", "dollars": "usd", "dollar": "usd", "euros": "eur",
                "euro": "eur", "pounds": "gbp", "pound": "gbp", "yuan": "rmb", "块钱": "元"}  # fmt: skip
_POWER = re.compile(rf"({_N}) ?(kw|mw|w|watts?|千瓦|兆瓦|瓦)(?![a-z0-9])")
_FLOPS = re.compile(rf"({_N}) ?(tflops|pflops|tflop/s|pflop/s|tops)(?![a-z0-9])")
_BANDWIDTH = re.compile(rf"({_N}) ?(tb/s|gb/s|tbps|gbps)(?![a-z0-9])")
_PAIRS = (
    re.compile(
        rf"({_N} ?k?) ?(?:{_TOKEN} ?)?(?:in|input|prompt)(?![a-z]) ?[,/+&-]? ?(?:and )?({_N} ?k?) ?"
        rf"(?:{_TOKEN} ?)?(?:out|output|answer)(?![a-z])"
    ),
    re.compile(
        rf"(?:input|isl|prompt|in|输入|提示)[ :=]{{0,2}}({_N} ?k?) ?(?:{_TOKEN})?[ ,/+&]{{0,3}}(?:and )?"
        rf"(?:output|osl|answer|out|输出|回答)[ :=]{{0,2}}({_N} ?k?)(?![a-z0-9.])"
    ),
    re.compile(rf"(?<![\d.])({_N} ?k?) ?/ ?({_N} ?k?)(?: {_TOKEN})?(?![a-z0-9./])"),
)
_BATCH = (
    re.compile(
        rf"(?:batch(?: ?size)?|bs|concurrency|并发数?|批大小|批量|批次大小)(?: of)?[ :=为]{{0,2}}({_N})(?![a-z0-9.])"
    ),
    re.compile(
        rf"({_N}|{_WORD_NUMBER}) ?(?:concurrent|parallel|simultaneous)(?: (?:users?|requests?|streams?|sequences?))?"
        rf"(?![a-z])"
    ),
    re.compile(rf"({_N}) ?(?:users|requests|streams|路并发|个并发|并发|用户|个用户)(?![a-z/])"),
)
_PROMPT = (
    re.compile(
        rf"({_N} ?k?)[ -]?(?:{_TOKEN}[ -]?)?(?:的? ?)(?:prompts?|inputs?|context(?: length)?|ctx|上下文|提示词?|输入)"
        rf"(?![a-z])"
    ),
    re.compile(
        rf"(?:prompts?|inputs?|context(?: length)?|isl|上下文|提示词?|输入)(?: of)?[ :=]{{0,2}}({_N} ?k?)(?![a-z0-9.])"
    ),
)
_ANSWER = (
    re.compile(rf"({_N} ?k?)[ -]?(?:{_TOKEN}[ -]?)?(?:outputs?|answers?|out|输出|回答)(?![a-z])"),
    re.compile(rf"(?:outputs?|answers?|osl|输出|回答)(?: of)?[ :=]{{0,2}}({_N} ?k?)(?![a-z0-9.])"),
)
_TOKENS = re.compile(rf"({_N} ?{_STEP}?)[ -]?(?:个)? ?{_TOKEN}(?![a-z/])")
_MFU = (
    re.compile(rf"(?:mfu|model flops utili[sz]ation)[^\d{_MASK}]{{0,14}}({_N}) ?%"),
    re.compile(rf"({_N}) ?% ?(?:的 ?)?(?:mfu|model flops utili[sz]ation)"),
)
_MFU_DECIMAL = re.compile(rf"(?:mfu)[^\d{_MASK}]{{0,14}}(0?\.\d{{1,4}})(?!\d)")
_UNIT_OF_TIME = (
    r"(?:milliseconds?|msec|ms|seconds?|secs?|s|minutes?|mins?|hours?|hrs?|h|days?|d|weeks?|months?|years?"
    r"|毫秒|秒钟?|分钟|个?小时|天|日|周|星期|个?月|年)"
)
_TIME = re.compile(
    rf"(?:({_N}) ?|(?<![a-z0-9])({_ENGLISH_NUMBER}) |({_CHINESE_NUMBER}) ?个?(半)? ?)({_UNIT_OF_TIME})(?![a-z0-9])"
)
_TIME_NAMES = {"milliseconds": "ms", "millisecond": "ms", "个小时": "小时", "个月": "个月", "月": "个月"}
_RATIO = (
    re.compile(rf"(?<![a-z0-9.])({_N}) ?(?:x|times|-?fold|倍)(?![a-z0-9])"),
    re.compile(r"(?<![a-z])(twice|double|triple|half)(?![a-z])"),
    re.compile(rf"({_N}) ?% (?:faster|quicker|more)"),
    re.compile(rf"({_N}) ?% (?:slower|less)"),
    re.compile(rf"({_N}) ?% ?(?:of|的|as fast|性能|速度|performance|speed)"),
    re.compile(r"([一二两三四五六七八九十]) ?倍"),
    re.compile(r"(半) ?(?:张|块|片|台)"),
)
# "An H100 equals 6.3 A100": a number of cards that is none.
_SHARE_OF_CARDS = re.compile(rf"(?<![a-z0-9.])({_N}) ?{_MASK}")
_RATIO_WORDS = {"twice": 2.0, "double": 2.0, "triple": 3.0, "half": 0.5, "半": 0.5}
_SIZE = re.compile(
    r"(?<![a-z0-9.])(\d{1,4}(?:\.\d{1,2})?) ?b(?![a-z0-9])(?:[ -]?(?:model|parameters?|params?|参数|模型))?"
)
_MEMORY_CARD = re.compile(
    r"(?<![a-z0-9.])(\d{1,4}) ?(?:gb|gib|g) ?(?:的 ?)?(?:(?:vram|memory|显存) ?)?(?:的 ?)?"
    r"(?:gpus?|(?:graphics )?cards?|显卡|卡)(?![a-z])"
)
_BYTES = re.compile(rf"({_N}) ?(gb|gib|tb|g)(?![a-z/0-9])")
_SPARSE = _words("sparse", "sparsity", "with sparsity", "2:4", "稀疏")
_NEGATION = re.compile(
    r"(?<![a-z])(?:not|cannot|can't|won't|doesn't|don't|never|too big|too large)(?![a-z])|不能|不了|不下|无法|不够|不到"
)
_FORMATS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"(?<![a-z0-9])(?:{pattern})(?![a-z0-9])"), name)
    for pattern, name in (
        (r"nvfp4|fp4", "nvfp4"),
        (r"mxfp4", "mxfp4"),
        (r"fp8|e4m3", "fp8"),
        (r"int8|w8a8", "int8"),
        (r"bf16|bfloat16", "bf16"),
        (r"fp16|float16|half precision|半精度", "fp16"),
        (r"fp32|float32", "fp32"),
        (r"tf32", "tf32"),
        (r"int4|awq|gptq|w4a16", "int4"),
        (r"nf4", "nf4"),
        (r"q8_0|q8", "q8_0"),
        (r"q6_k|q6", "q6_k"),
        (r"q5_k_m|q5", "q5_k_m"),
        (r"q4_k_m|q4_k|q4", "q4_k_m"),
        (r"q3_k_m|q3", "q3_k_m"),
        (r"q2_k|q2", "q2_k"),
        (r"16[ -]?bits?|16 ?位", "16-bit"),
        (r"8[ -]?bits?|8 ?位|八位", "8-bit"),
        (r"4[ -]?bits?|4 ?位|四位|四比特", "4-bit"),
    )
)
_TRAIN = re.compile(r"(?<![a-z])(?:pre-?)?train(?:s|ing|ed)?(?![a-z])|训练")
_FINETUNE = re.compile(r"(?<![a-z])(?:fine-?tun(?:e|es|ing|ed)|fine tun(?:e|es|ing|ed)|q?lora)(?![a-z])|微调")
_PREFILL = re.compile(r"(?<![a-z])(?:prefill(?:ing)?|prompt processing|pp\d{0,5})(?![a-z])|预填充")
_DECODE = re.compile(r"(?<![a-z])(?:decod(?:e|ing)|generation|generat(?:e|ing))(?![a-z])|解码|生成")
_SERVE = re.compile(r"(?<![a-z])(?:inference|serving|throughput|serve)(?![a-z])|推理|吞吐|服务(?!器)")
_FIRST = re.compile(
    r"(?<![a-z])(?:time to first token|first token(?: time| latency)?|ttft)(?![a-z])"
    r"|首 ?(?:token|字|词|个 ?token)(?:时延|延迟|时间)?"
)
_PER_TOKEN = re.compile(
    r"(?<![a-z])(?:tpot|itl|inter-token latency|per (?:output )?token|a token|/ ?token)(?![a-z])"
    r"|每 ?(?:个 ?)?(?:token|词元|字)"
)
_USER = re.compile(
    r"(?<![a-z])(?:per (?:user|stream|request|session)|each user|(?:single|one)[ -](?:user|stream)|/user|each)(?![a-z])"
    r"|每个?用户|单用户|单路|单流|单并发|每路"
)
_GPU = re.compile(r"(?<![a-z])(?:per|each|/) ?(?:gpu|card)(?![a-z])|每 ?(?:张|块)? ?(?:卡|gpu)")
_ALL = re.compile(r"(?<![a-z])(?:aggregate|in total|overall|system|altogether)(?![a-z])|合计|总吞吐|聚合|总共")
_WITH_PROMPT = re.compile(
    r"input ?\+ ?output|prompt ?\+ ?(?:answer|output)|total tokens|incl(?:\.|uding)? (?:the )?(?:prompt|input)s?"
    r"|含输入|输入\+输出"
)
_USED = re.compile(r"(?<![a-z])(?:used|second-?hand|refurbished|pre-owned)(?![a-z])|二手|翻新")
_NEW = re.compile(r"(?<![a-z])(?:new|brand-new)(?![a-z])|全新")
_INSTEAD = re.compile(r"instead of|rather than|in place of|replacing|than|而不是|代替|替代|取代")
_BECOMES = re.compile(
    r"becomes?|turn(?:s|ed)? into|goes? (?:down )?to|(?:down|cut|reduced|shrinks?|drops?) to|->|→|=>|from"
    r"|变成|变为|缩短|降到|降至|减到|到|从"
)
_SAME = re.compile(
    r"(?<![a-z])(?:is|are|equals?|matches|replaces?|beats|outperforms?|as fast as|worth)(?![a-z])"
    r"|=|相当于|等于|顶|是|抵|一样|相同|持平|替代|代替|取代|the same"
)
_RUNS = re.compile(
    r"(?<![a-z])(?:fits?|fitting|runs?|running|loads?|holds?|hosts?|serves?|deploys?|needs?|requires?|works? on)"
    r"(?![a-z])|装得下|放得下|装下|放下|跑|运行|部署|需要|能装|装不下|放不下"
)

# --- names of the catalog ----------------------------------------------------------------------------------------

_SOCKET = re.compile(r"(sxm|oam)\d")
_ATOM = re.compile(r"[a-z0-9]+|[^\x00-\x7f\ue000]")
_BETWEEN = re.compile(r"[ \-_./()+]{0,2}")
# A bare number is the name of a card ("4090") unless a unit follows it.
_UNIT_BEHIND = re.compile(
    rf" ?(?:{_TOKEN}|t/s|tps|k?w(?![a-z])|{_STEP}(?![a-z])|gb|%|元|x |倍|\$|usd|ms|秒|天|steps|users|并发|\.\d|,\d)"
)
_PLURAL = re.compile(r"(?<=\d)s$")
_MAKERS = ("nvidia", "amd", "geforce", "tesla", "instinct", "radeon", "huawei", "华为", "英伟达", "超微")


class _Index(NamedTuple):
    """What a name without its separators may mean: kind of entry and names."""

    meanings: dict[str, tuple[str, tuple[str, ...]]]


def _squashed(name: str) -> str:
    plain = unicodedata.normalize("NFKC", name).casefold()
    return "".join(_ATOM.findall(_SOCKET.sub(r"\1", plain)))


def _built(catalog: Catalog) -> _Index:
    meanings: dict[str, tuple[str, tuple[str, ...]]] = {}
    for kind in ("server", "runtime", "llm", "gpu"):
        for name, entry in catalog.entries(kind).items():
            for spelling in dict.fromkeys(query.names_of(entry)):
                key = _squashed(spelling)
                if len(key) > 1 and not entry.unlisted:
                    _add(meanings, key, kind, (name,), exact=spelling == name)
            if kind == "gpu" and name.startswith("Huawei Ascend"):
                _add(meanings, "昇腾" + _squashed(name.split()[2]), kind, (name,), exact=False)
                _add(meanings, _squashed(name.split()[2]), kind, (name,), exact=False)
    for short, (candidates, _why) in catalog.ambiguous.items():
        meanings[_squashed(short)] = "gpu", candidates
    return _Index(meanings)


def _add(
    meanings: dict[str, tuple[str, tuple[str, ...]]], key: str, kind: str, names: tuple[str, ...], exact: bool
) -> None:
    known = meanings.get(key)
    if known is None or known[0] != kind:
        meanings[key] = kind, names
    elif not exact and names[0] not in known[1]:
        meanings[key] = kind, (*known[1], *names)
    elif exact:
        meanings[key] = kind, names


_indices = IdentityCache(_built, limit=4)


class _Name(NamedTuple):
    kind: str
    names: tuple[str, ...]
    text: str
    start: int
    end: int


def _names(text: _Text, catalog: Catalog) -> Iterator[_Name]:
    """Names of entries in the text, from left to right, the longest at each place; taken as they are found."""
    meanings = _indices(catalog).meanings
    whole = text.left
    atoms = list(_ATOM.finditer(whole))
    at = 0
    while at < len(atoms):
        found = _longest(whole, atoms, at, meanings)
        if found is None:
            at += 1
            continue
        name, used = found
        text.take(name.start, name.end)
        yield name
        at += used


def _longest(
    whole: str, atoms: list[re.Match[str]], at: int, meanings: dict[str, tuple[str, tuple[str, ...]]]
) -> tuple[_Name, int] | None:
    last = at
    while last + 1 < len(atoms) and last - at + 1 < _LONGEST_NAME:
        if not _BETWEEN.fullmatch(whole[atoms[last].end() : atoms[last + 1].start()]):
            break
        last += 1
    start = atoms[at].start()
    for end_at in range(last, at - 1, -1):
        end = atoms[end_at].end()
        key = _SOCKET.sub(r"\1", "".join(atom[0] for atom in atoms[at : end_at + 1]))
        meaning = meanings.get(key) or meanings.get(_PLURAL.sub("", key))
        if meaning is None or (key.isdigit() and not _is_card_number(whole, start, end)):
            continue
        if end_at > at and any(pattern.fullmatch(atoms[end_at][0]) for pattern, _name in _FORMATS):
            # "… 70B FP8": the format is not a part of the name.
            continue
        if meaning[0] == "server" and end_at == at:
            continue
        return _Name(meaning[0], meaning[1], whole[start:end], start, end), end_at - at + 1
    return None


def _is_card_number(whole: str, start: int, end: int) -> bool:
    return not _UNIT_BEHIND.match(whole, end) and whole[max(start - 1, 0) : start] not in ("$", "¥", ".", ",", "€")


# --- how many cards ----------------------------------------------------------------------------------------------

_INT_OR_WORD = rf"(?:\d{{1,6}}|{_WORD_NUMBER})"
_HARDWARE = r"(?:servers?|nodes?|machines?|boxes|chassis|台(?:服务器|机器)?|个?节点|套)"
_EACH = re.compile(
    rf"(?<![a-z0-9.])({_INT_OR_WORD}) ?{_HARDWARE}[ ,]{{0,2}}(?:of |with |each with |, each |每台 ?|的 ?|各 ?)?"
    rf"({_INT_OR_WORD}) ?[x*]? ?(?:-? ?(?:gpus?|cards?|卡|张|块|片))? ?(?:的 ?)?$"
)
_MACHINES = re.compile(rf"(?<![a-z0-9.])({_INT_OR_WORD}) ?(?:{_HARDWARE}(?: of| with)?) ?(?:的 ?)?$")
_COUNT = re.compile(
    rf"(?<![a-z0-9.])(?<!\d,)({_INT_OR_WORD}) ?(?:(?:x|\*)|-? ?(?:gpus?|cards?|pcs|卡|张|块|片|个|枚|颗|路))? ?"
    rf"(?:of )?(?:的 ?)?$"
)
_BEHIND = re.compile(r" ?(?:x|\*) ?(\d{1,5})(?![a-z0-9.])| (\d{1,4}) ?(?:卡|张|块|gpus)(?![a-z])")
_MACHINE_BEHIND = re.compile(r"[ -]?(?:servers?|nodes?|machines?|服务器|整机)(?![a-z])")


def _cards(name: _Name, text: _Text, catalog: Catalog) -> Cards:
    """The cards of a name with how many of them, and the count taken from the text."""
    before = text.left[: name.start]
    for maker in _MAKERS:
        if before.rstrip().endswith(maker):
            before = before.rstrip()[: -len(maker)]
    names = name.names
    machine = _MACHINE_BEHIND.match(text.left, name.end)
    if machine is not None:
        text.take(*machine.span())
    whole = machine is not None
    if match := _EACH.search(before):
        text.take(match.start(), name.start)
        return Cards(names, name.text, _whole(match[2]), _whole(match[1]), True, True)
    if match := _MACHINES.search(before):
        text.take(match.start(), name.start)
        per_server = _PER_SERVER if _in_servers(names, catalog) else 1
        return Cards(names, name.text, per_server, _whole(match[1]), True, True, by_machine=True)
    if match := _COUNT.search(before):
        plain = match[0].strip()
        # "Half an A100" is a ratio, no number of cards.
        counted = _number(match[1])
        if (counted is None or counted >= 1.0) and (
            plain not in ("a", "an") or not text.left[match.start() - 1 : match.start()].isalnum()
        ):
            text.take(match.start(), name.start)
            return Cards(names, name.text, _whole(match[1]), 1, True, whole)
    if match := _BEHIND.match(text.left, name.end):
        text.take(*match.span())
        return Cards(names, name.text, _whole(match[1] or match[2]), 1, True, whole)
    if whole and _in_servers(names, catalog):
        return Cards(names, name.text, _PER_SERVER, 1, False, True, by_machine=True)
    return Cards(names, name.text)


def _whole(text: str) -> int:
    return max(int(_number(text) or 1), 1)


def _in_servers(names: tuple[str, ...], catalog: Catalog) -> bool:
    forms = {catalog.gpus[name].form_factor for name in names if name in catalog.gpus}
    return any(form.startswith(("SXM", "OAM")) for form in forms)


# --- a claim -----------------------------------------------------------------------------------------------------


class _Parts(NamedTuple):
    """What the text holds."""

    cards: tuple[Cards, ...]
    llm: str
    by_size: bool
    runtime: str


def read(text: str, catalog: Catalog) -> Claim | Unread:
    """What a typed claim says.

    Never raises and never takes long, whatever the text. `Unread` says what is missing: "empty", "too_long", "no_names"
    (neither a card nor a model of the catalog), "no_figure" (nothing that could be checked), "no_money" and so on.
    """
    if not text.strip():
        return Unread("empty")
    if len(text) > LONGEST:
        return Unread("too_long")
    stated = text.strip()
    rest = _Text(_normalised(text))
    negated = rest.has(_NEGATION)
    rate = _first_number(rest, _RATES)
    money = _money(rest)
    power = _power(rest)
    flops, bandwidth = _with_unit(rest, _FLOPS, "TFLOPS"), _with_unit(rest, _BANDWIDTH, "GB/s")
    mfu = _share(rest)
    prompt, answer = _lengths(rest)
    # Widths and names first where a name could be taken for a figure, and the other way round.
    weights = _weights(rest)
    parts = _parts(rest, catalog)
    batch = _first_number(rest, _BATCH)
    if prompt is None:
        prompt = _tokens_of(rest, _PROMPT)
    if answer is None:
        answer = _tokens_of(rest, _ANSWER)
    times = _times(rest)
    tokens = _first_number(rest, (_TOKENS,))
    if tokens is not None and not 1.0 <= tokens <= _MOST_TOKENS:
        tokens = None
    finetune, train = rest.has(_FINETUNE), rest.has(_TRAIN)
    first, per_token = rest.has(_FIRST), rest.has(_PER_TOKEN)
    work = (
        "finetune" if finetune else "train" if train else "prefill" if rest.has(_PREFILL) else "decode"
        if rest.has(_DECODE) else "serve" if rest.has(_SERVE) else ""
    )  # fmt: skip
    scope = (
        "user" if rest.has(_USER) else "gpu" if rest.has(_GPU) else "all" if rest.has(_ALL) or batch is not None else ""
    )
    claim = Claim(
        "", 0.0, stated, parts.cards, parts.llm, parts.by_size, weights, parts.runtime, batch, prompt, answer, scope,
        rest.has(_WITH_PROMPT), work, tokens, None,
        "used" if rest.has(_USED) else "new" if rest.has(_NEW) else "", rest.has(_SPARSE), negated,
    )  # fmt: skip
    figures = _Figures(rate, money, power, flops, bandwidth, mfu, times, first, per_token)
    judged = _of_kind(claim, figures, rest)
    if isinstance(judged, Unread):
        return judged
    if judged.negated and judged.kind != "memory":
        return Unread("negated")
    return judged._replace(ignored=_ignored(rest))


class _Figures(NamedTuple):
    rate: float | None
    money: Money | None
    power: float | None
    flops: float | None
    bandwidth: float | None
    mfu: float | None
    times: tuple[float, ...]
    first: bool
    per_token: bool


def _of_kind(claim: Claim, got: _Figures, rest: _Text) -> Claim | Unread:
    """Which kind of claim the figures make."""
    cards, several = claim.cards, len(claim.cards) > 1
    if got.money is not None:
        if not cards:
            return Unread("no_cards")
        condition = "rented" if rest.has(_PER_HOUR) else claim.condition
        return claim._replace(kind="price", value=got.money.amount, money=got.money, condition=condition)
    if got.mfu is not None:
        return claim._replace(kind="mfu", value=got.mfu, work=claim.work if claim.work == "finetune" else "train")
    if got.flops is not None or got.bandwidth is not None:
        if not cards:
            return Unread("no_cards")
        if got.flops is not None:
            return claim._replace(kind="peak", value=got.flops)
        return claim._replace(kind="bandwidth", value=got.bandwidth or 0.0)
    if got.rate is not None:
        if not (cards or claim.llm):
            return Unread("no_names")
        kind = (
            "training_rate"
            if claim.work in ("train", "finetune")
            else "prefill"
            if claim.work == "prefill"
            else "throughput"
        )
        return claim._replace(kind=kind, value=got.rate)
    if len(got.times) == 2 and (rest.has(_BECOMES) or rest.has(_INSTEAD)):
        before, after = got.times
        if rest.has(_INSTEAD) and not rest.has(_BECOMES):
            before, after = after, before
        return claim._replace(kind="speedup", value=before / after)
    ratio = _ratio(rest)
    if ratio == 0.0:
        return Unread("no_figure")
    if several and (ratio is not None or rest.has(_SAME)):
        first, second = cards[0], cards[1]
        if ratio is None:
            ratio = _first_number(rest, (_SHARE_OF_CARDS,))
        if ratio is None:
            # "One H100 is 3x A100" is three for one.
            ratio = second.total / first.total
            cards = (
                first._replace(per_server=1, servers=1, counted=False),
                second._replace(per_server=1, servers=1, counted=False),
            )
        elif ratio >= 1.0 and rest.has(_SLOWER):
            cards = (second, first, *cards[2:])
        return claim._replace(kind="ratio", value=ratio, cards=cards)
    if got.power is not None:
        return claim._replace(kind="power", value=got.power) if cards else Unread("no_cards")
    if got.times:
        if got.first or claim.work == "prefill":
            # "8k tokens of prefill in 0.2 s" states the prompt as a number of tokens.
            stated = _length(str(claim.tokens)) if claim.tokens is not None else None
            prompt = claim.prompt if claim.prompt is not None else stated if claim.work == "prefill" else None
            return claim._replace(kind="first_token", value=got.times[0], prompt=prompt)
        if got.per_token:
            return claim._replace(kind="per_token", value=got.times[0])
        if claim.work in ("train", "finetune"):
            return claim._replace(kind="training_time", value=max(got.times))
        if not (cards or claim.llm):
            return Unread("no_names")
        return Unread("time_of_what")
    if ratio is not None:
        return claim._replace(kind="speedup", value=ratio)
    if not (cards or claim.llm):
        return Unread("no_names")
    size = _with_unit(rest, _BYTES, "GB") if claim.llm and not cards else None
    if size is not None:
        return claim._replace(kind="need", value=size)
    yuan = rest.find(_YUAN) if cards and not claim.llm else None
    if yuan is not None:
        amount = _number(yuan[1]) or 0.0
        return claim._replace(kind="price", value=amount, money=Money(amount=amount, currency="CNY"))
    if claim.llm and cards and (rest.has(_RUNS) or claim.negated):
        return claim._replace(kind="memory", value=0.0)
    return Unread("no_figure")


_SLOWER = re.compile(r"(?<![a-z])(?:slower|as slow)(?![a-z])|慢")


def _first_number(rest: _Text, patterns: tuple[re.Pattern[str], ...]) -> float | None:
    for pattern in patterns:
        match = rest.find(pattern)
        if match is not None:
            number = _number(match[1])
            if number is not None and number > 0:
                return number
    return None


def _share(rest: _Text) -> float | None:
    """A utilisation, in percent or as a decimal fraction."""
    points = _first_number(rest, _MFU)
    return points / 100.0 if points is not None else _first_number(rest, (_MFU_DECIMAL,))


def _money(rest: _Text) -> Money | None:
    for pattern in _MONEY:
        match = rest.find(pattern)
        if match is None:
            continue
        typed = match[0]
        for word, short in _MONEY_WORDS.items():
            typed = typed.replace(word, short)
        amount = parse_money(typed, "USD")
        if amount is not None and 0 < amount.amount <= 1e15:
            return Money(amount=amount.amount, currency=amount.currency or "USD")
    return None


def _power(rest: _Text) -> float | None:
    return _with_unit(rest, _POWER, "W")


def _with_unit(rest: _Text, pattern: re.Pattern[str], unit: str) -> float | None:
    match = rest.find(pattern)
    if match is None:
        return None
    name = match[2].replace("flop/s", "flops").replace("watts", "w").replace("watt", "w").replace("bps", "b/s")
    value = parse_quantity(f"{match[1]} {name.upper() if name.isascii() else name}", unit)
    return value if value is not None and value > 0 else None


def _lengths(rest: _Text) -> tuple[int | None, int | None]:
    for pattern in _PAIRS:
        match = pattern.search(rest.left)
        if match is None:
            continue
        pair = _length(match[1]), _length(match[2])
        if pair[0] is not None and pair[1] is not None:
            rest.take(*match.span())
            return pair
    return None, None


def _tokens_of(rest: _Text, patterns: tuple[re.Pattern[str], ...]) -> int | None:
    number = _first_number(rest, patterns)
    return _length(str(number)) if number is not None else None


def _length(text: str) -> int | None:
    number = _number(text)
    return None if number is None or not 1 <= number <= 100_000_000 else round(number)


def _weights(rest: _Text) -> str:
    for pattern, name in _FORMATS:
        if rest.find(pattern):
            return name
    return ""


def _times(rest: _Text) -> tuple[float, ...]:
    """Spans of time in the order of the text. [s]"""
    found = []
    while (match := rest.find(_TIME)) is not None:
        number = _number(match[1] or match[2] or match[3])
        name = _TIME_NAMES.get(match[5], match[5])
        size = parse_quantity(f"1 {name}", "s")
        if number is not None and size and number > 0:
            found.append((number + (0.5 if match[4] else 0.0)) * size)
    return tuple(found)


def _ratio(rest: _Text) -> float | None:
    """So many times as fast, 0 where that is what the text says."""
    for pattern in _RATIO:
        match = rest.find(pattern)
        if match is None:
            continue
        if match[1] in _RATIO_WORDS:
            return _RATIO_WORDS[match[1]]
        number = _number(match[1])
        if number is not None and number >= 0:
            return _of_percent(number, match[0]) if "%" in match[0] else number
    return None


def _of_percent(number: float, text: str) -> float | None:
    """A ratio said in percent: 30 % faster is 1.3, 30 % slower 0.7, 80 % of it 0.8."""
    if "faster" in text or "quicker" in text or "more" in text:
        return 1.0 + number / 100.0
    share = 1.0 - number / 100.0 if "slower" in text or "less" in text else number / 100.0
    return share if share > 0 else None


def _parts(rest: _Text, catalog: Catalog) -> _Parts:
    cards: list[Cards] = []
    llm, runtime = "", ""
    for name in list(_names(rest, catalog)):
        if name.kind == "gpu":
            cards.append(_cards(name, rest, catalog))
        elif name.kind == "llm":
            llm = llm or name.names[0]
        elif name.kind == "runtime":
            runtime = runtime or name.names[0]
        else:
            cards.append(_server_cards(name, rest, catalog))
    by_size = False
    if not llm:
        size = rest.find(_SIZE)
        number = _number(size[1]) if size is not None else None
        if number:
            llm, by_size = of_size(number * 1e9, catalog), True
            by_size = bool(llm)
    if not cards:
        match = rest.find(_MEMORY_CARD)
        if match is not None:
            names = cards_of_size(float(match[1]) * GIB, catalog)
            if names:
                start = match.start()
                cards.append(
                    _cards(_Name("gpu", names, match[0], start, match.end()), rest, catalog)._replace(by_size=True)
                )
    return _Parts(tuple(cards[:4]), llm, by_size, runtime)


def _server_cards(name: _Name, rest: _Text, catalog: Catalog) -> Cards:
    server = catalog.servers[name.names[0]]
    counted = _cards(name._replace(kind="gpu"), rest, catalog)
    options = tuple(option for option in server.gpu_options if option in catalog.gpus)
    return Cards(
        options or name.names, name.text, max(server.gpus_per_server, 1), counted.total, True, True, server=server.name
    )


def of_size(params: float, catalog: Catalog) -> str:
    """The model that stands for "a 70B": a dense one of about that size, the newest of a well-known family."""
    near = [
        llm
        for llm in catalog.llms.values()
        if not llm.unlisted and abs(llm.params_total / params - 1.0) < _SIZE_ROOM and llm.params_basis == "computed"
    ]
    if not near:
        return ""

    size = f"{params / 1e9:g}b"

    def rank(llm: Llm) -> tuple[bool, bool, int, tuple[float, ...], float]:
        family = next((i for i, each in enumerate(_USUAL_FAMILIES) if llm.name.startswith(each)), len(_USUAL_FAMILIES))
        version = tuple(-float(word) for word in query.words(llm.name) if word.replace(".", "", 1).isdigit())
        # Qwen2.5-32B is called a 32B, Llama-33B is not, though it is as large.
        named = size in llm.name.casefold().split("-")
        return llm.moe is not None, not named, family, version or (0.0,), abs(llm.params_total - params)

    return min(near, key=rank).name


def cards_of_size(memory_bytes: float, catalog: Catalog) -> tuple[str, ...]:
    """The card that stands for "a 24 GB card": of those with so much memory NVIDIA's fastest."""
    fitting = [
        gpu
        for gpu in catalog.gpus.values()
        if not gpu.unlisted and abs(gpu.memory_bytes.value / memory_bytes - 1.0) < 0.01
    ]
    if not fitting:
        return ()

    def speed(gpu: Gpu) -> tuple[bool, float, float]:
        bandwidth = gpu.memory_bandwidth_bytes_s
        return gpu.vendor == "NVIDIA", bandwidth.value if bandwidth is not None else 0.0, query.dense16(gpu) or 0.0

    return (max(fitting, key=speed).name,)


_LEFT_OVER = re.compile(rf"[^\s{_MASK},;:()]*\d[^\s{_MASK},;()]*")


def _ignored(rest: _Text) -> tuple[str, ...]:
    return tuple(match[0] for match in _LEFT_OVER.finditer(rest.left))[:5]
