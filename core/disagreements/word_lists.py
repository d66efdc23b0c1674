"""Words that the rules know. Each list is one string: a list of quoted words would hide the rules."""

from __future__ import annotations

_ORDINALS = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
"""
ORDINALS = _ORDINALS.split()  # in order

_MONTHS = """
january jan february feb march mar april apr may may june jun july jul august aug september sep october oct
november nov december dec
"""
MONTHS = _MONTHS.split()  # each month and its short form

_NO_NOUNS = """
a an and any are as at be because before but by can do does each every for from has have if in into is it its
may more must not of on only or our over per shall should so than that the their them then there they this to
until up was we were when which who will with within without you your after again all between during either he
her his i later least less most no nor off once out same she some such these those through too under very
while
"""
NO_NOUNS = _NO_NOUNS.split()  # words after a number that it does not count

_LABELS = """
ext extension door room gate channel bay floor dock building suite port lane row rack platform hangar
"""
LABELS = _LABELS.split()  # a number behind one of these says which one

_WEAK_WORDS = """
must need require required make use day time person people item case new follow see take get give put go come
ask within per least most than may shall should can will hour minute week month year business work calendar
number date every always usual usually normal normally current general include also first last next second
amount total limit maximum minimum up whichever later earlier end apply done set way thing part kind type any
yes ensure provide state allowed allow full same day's whole company rule basis own let please due deadline
latest call ext question contact note answer meaning used using annual
"""
WEAK_WORDS = _WEAK_WORDS.split()  # say little about the subject

_SCOPES = """
at for of on from under about per during since near inside across between like as
"""
SCOPES = _SCOPES.split()  # a name behind one of these says where a rule holds

_GENERIC_STEMS = """
polici procedur record faq standard complianc definit respons scope purpos overview meridal compani
"""
GENERIC_STEMS = _GENERIC_STEMS.split()  # tie no two documents together

_POLAR = """
cannot never not nobody none neither without unless except must may shall prohibited forbidden allowed
permitted optional mandatory required requires banned always only on whichever
"""
POLAR = _POLAR.split()  # whether something is demanded: compared on their own, never as words
