"""The thesis's figures, each with the place where it is printed; no other module has a number of it.

Brodtkorb, "A MATLAB Interface to the GPU", Master's thesis, University of Oslo, 1 May 2007. Its GPU is a GeForce
7800 GT, its CPU a Pentium IV, which ran MATLAB with ATLAS.
"""

from __future__ import annotations

DEVICE = "GeForce 7800 GT against Pentium IV, 2007"
"""What the figures were measured on."""

NOT_PUBLISHED = "not published"
"""Stands for what the thesis shows as a picture only."""

FITS = {
    "product, CPU": (-1.74e-2, 7.93e-10),
    "product, inner product": (1.26e-2, 3.93e-10),
    "product, virtual cube": (2.28e-2, 2.86e-10),
    "RREF, CPU's LU": (1.35e-2, 3.53e-10),
    "RREF, GPU": (6.29e-2, 2.61e-10),
    "PLU, CPU": (6.10e-2, 3.32e-10),
    "PLU, GPU": (4.11e-2, 1.97e-10),
}
"""Run times a + b n^3 in seconds, as (a, b): sections 4.1.1, 4.1.2 and 4.1.3."""

SPEEDUPS = {
    "inner product": (2.02, "4.1.1", "MATLAB's product, ATLAS"),
    "virtual cube": (2.77, "4.1.1", "MATLAB's product, ATLAS"),
    "RREF": (1.35, "4.1.2", "MATLAB's LU, ATLAS, which is a third of the work less"),
    "PLU": (1.69, "4.1.3", "MATLAB's LU, ATLAS"),
}
"""Speed-ups for large matrices, b_CPU / b_GPU: value, section, what it was against."""

ESTIMATES = {"product": 700, "rref": 1200, "plu": 800}
"""Orders from which on the speed-ups are called good estimates; sections 4.1.1 to 4.1.3."""

PRODUCT_ERRORS = {"largest mean error": 0.14, "largest error": 0.17}
"""Of five products of U[0, 10); section 4.1.1."""

PLU_ERRORS = {"largest mean error": 1.0827e-5, "largest error": 3.8586e-5}
"""Of five factorisations of diagonally dominant matrices; section 4.1.3."""

RELATIVE_ERROR = 1e-5
"""Bound of every relative error: "negligible (< 0.001 %)"; sections 4.1.1 to 4.1.3."""

MATLAB_RREF = (
    (11, 0.011455), (65, 0.304077), (131, 1.151880), (256, 4.209507), (521, 17.88167), (648, 28.31852),
    (897, 66.28932), (1029, 97.1145), (1285, 181.1832), (1543, 293.8220), (1798, 453.8168), (2051, 647.5665),
)  # fmt: skip
"""n, seconds of MATLAB's rref of n x (n + 1); table B.1a."""

RREF = (
    (138, 0.0016, 0.0286), (266, 0.0095, 0.0440), (388, 0.0274, 0.0666), (520, 0.0608, 0.1070), (646, 0.1112, 0.1534),
    (776, 0.1849, 0.1936), (906, 0.2880, 0.2816), (1028, 0.4196, 0.3770), (1280, 0.7787, 0.6727),
    (1536, 1.3393, 1.1371), (1796, 2.0478, 1.7786), (2055, 3.0469, 2.6496),
)  # fmt: skip
"""n, seconds of MATLAB's LU, seconds of the GPU's RREF; table B.1b."""

PRODUCT_CPU = (
    (58.775, 0.00024419), (121.68, 0.0015211), (197.9, 0.005967), (302.02, 0.022959), (357.22, 0.036471),
    (951.18, 0.67207), (1643.2, 3.4754), (2547.2, 12.996), (3049.2, 22.6), (3550.2, 35.772), (4041.2, 52.712),
)  # fmt: skip
"""sqrt((mn + no) / 2), seconds of MATLAB's product; table B.2a, whose heading has c for 2."""

PRODUCT_SINGLE_PASS = (
    (651.12, 0.15053), (685.91, 0.13185), (982.22, 0.37169), (1628.0, 1.7318), (1653.2, 1.8181), (2004.7, 3.1735),
    (2029.7, 3.2999), (2502.0, 6.1705), (2555.7, 6.5888), (3003.5, 10.72), (3086.2, 11.672),
)  # fmt: skip
"""Size, seconds of the inner product on the GPU; table B.2b."""

PRODUCT_MULTI_PASS = (
    (51.303, 0.0030236), (70.887, 0.0033631), (138.74, 0.0050918), (262.93, 0.012401), (397.75, 0.035368),
    (520.99, 0.051389), (774.75, 0.15116), (1294.7, 0.65857), (2553.0, 4.8447), (3058.7, 8.1347), (3629.7, 13.683),
    (3961.2, 17.624),
)  # fmt: skip
"""Size, seconds of the virtual cube on the GPU; table B.2c."""

PLU = (
    (1024, 0.4285, 0.2969), (1208, 0.6387, 0.4053), (1261, 0.7352, 0.4466), (1290, 0.7841, 0.4702),
    (1644, 1.5870, 1.0021), (1696, 1.7152, 1.0944), (1696, 1.7218, 1.0944), (2002, 2.7876, 1.4241),
    (2058, 3.0314, 1.8741), (2062, 3.0430, 1.5393), (2083, 3.1292, 1.5856), (2091, 3.1627, 1.8937),
    (2503, 5.3744, 2.6168), (2554, 5.6714, 2.8308), (2590, 5.8868, 3.0886), (3002, 9.0903, 5.0169),
    (3089, 9.9035, 6.0506), (3093, 10.018, 6.0549), (3506, 14.374, 9.1683), (3539, 14.771, 8.7589),
    (3586, 15.375, 10.738), (3595, 15.449, 10.766),
)  # fmt: skip
"""n, seconds of MATLAB's LU, seconds of the GPU's PLU; table B.3."""

CLUSTER = (
    (128, 8, (0.20607, 0.14006, 0.13756, 0.28482)), (128, 16, (0.23247, 0.11918, 0.14593, 0.28739)),
    (128, 32, (0.19208, 0.10213, 0.11030, 0.27609)), (128, 64, (0.13572, 0.09238, 0.08232, 0.24506)),
    (512, 32, (0.54457, 0.25811, 0.28454, 1.11726)), (512, 64, (0.49388, 0.24161, 0.26360, 0.78500)),
    (512, 128, (0.32307, 0.23648, 0.24194, 0.64518)), (512, 256, (0.24012, 0.20242, 0.21688, 0.36138)),
    (2048, 128, (3.17257, 2.43952, 2.95311, 3.19620)), (2048, 256, (3.07729, 2.43028, 2.95513, 3.15248)),
    (2048, 512, (2.88925, 2.41467, 2.87859, 3.05907)), (2048, 1024, (2.59612, 2.39955, 2.68849, 2.93310)),
    (4096, 256, (13.76410, 13.03520, 14.77890, 15.26550)), (4096, 512, (13.70820, 13.18710, 14.74090, 15.78910)),
    (4096, 1024, (13.59550, 13.59640, 14.73430, 16.26440)), (4096, 2048, (14.62520, 14.45370, 14.50600, 16.66760)),
)  # fmt: skip
"""n, subsize, seconds on 1, 2, 3 and 4 nodes; table A.1."""

EPSILON = 2.0**-23
"""Norm of a pivot block that counts as zero, "close to the machine epsilon"; section 4.1.2."""

RATES = {
    "PLU on a cluster, 4 processes on two nodes": (3.5, 4096),
    "PLU on a cluster, 16 processes on four nodes": (4.2, 8192),
    "PLU on one node": (4.6, 4096),
    "MATLAB's LU, ATLAS": (3.5, 4096),
}
"""GFLOPS and order; section A.4.1."""

PROCESSES = 4
"""Processes of tables A.1 and A.3."""

LARGEST = 8192
"""Order of table A.2, which does not state it: its best time, 86.3 s, and the 4.2 GFLOPS that are printed give it."""

NUMBERS = (
    (4, 256, 97.78950, 42), (4, 512, 98.19350, 36), (4, 1024, 99.65560, 31), (4, 2048, 102.98800, 30),
    (16, 256, 86.30310, 37), (16, 512, 88.69330, 35), (16, 1024, 89.53110, 35), (16, 2048, 95.1656, 33),
    (64, 128, 122.72900, 24), (64, 256, 124.48000, 23), (64, 512, 120.79000, 23), (64, 1024, 124.32000, 21),
)  # fmt: skip
"""Processes, subsize, seconds on 4 nodes, percent of them for the network; table A.2."""

MESSAGES = (
    (2048, 128, (0.57228, 3.18597, 5.70082, 6.30781)), (2048, 256, (0.59500, 3.14385, 5.72201, 5.73072)),
    (2048, 512, (0.62175, 3.13140, 5.64543, 5.65009)), (2048, 1024, (0.69741, 3.02938, 5.37086, 5.38025)),
)  # fmt: skip
"""n, subsize, seconds of the messages alone on 1, 2, 3 and 4 nodes; table A.3."""

ONE_NODE = ((64, 0.0284489), (256, 0.0491337), (1024, 0.280545), (2048, 1.44955), (4096, 10.051))
"""n, seconds of the local PLU on one node; table A.4."""

MEASURED = {
    "product, CPU": PRODUCT_CPU,
    "product, inner product": PRODUCT_SINGLE_PASS,
    "product, virtual cube": PRODUCT_MULTI_PASS,
    "RREF, CPU's LU": tuple((n, cpu) for n, cpu, _ in RREF),
    "RREF, GPU": tuple((n, gpu) for n, _, gpu in RREF),
    "PLU, CPU": tuple((n, cpu) for n, cpu, _ in PLU),
    "PLU, GPU": tuple((n, gpu) for n, _, gpu in PLU),
}
"""What appendix B has of the measurements behind `FITS`: size, seconds."""
