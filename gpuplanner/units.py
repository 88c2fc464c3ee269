"""Named constants of conversion. Inside the program everything is SI: bytes, seconds, watts, FLOP/s."""

KIB = 2**10
MIB = 2**20
GIB = 2**30
KB = 10**3
MB = 10**6
GB = 10**9
TB = 10**12

TERA = 1e12
GIGA = 1e9
MEGA = 1e6
KILO = 1e3
MICRO = 1e-6
MILLI = 1e-3

BITS_PER_BYTE = 8

SECONDS_PER_MINUTE = 60.0
SECONDS_PER_HOUR = 3600.0
HOURS_PER_DAY = 24.0
HOURS_PER_YEAR = 8760.0
MONTHS_PER_YEAR = 12
SECONDS_PER_DAY = SECONDS_PER_HOUR * HOURS_PER_DAY

# The international table BTU, and the ton of refrigeration as 12,000 BTU/h.
BTU_H_PER_W = 3.412142
W_PER_TON = 3516.85
M3_H_PER_CFM = 1.699011
LITRES_PER_US_GALLON = 3.785412
LITRES_PER_M3 = 1000.0
