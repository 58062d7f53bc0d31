"""What the commands figures.py, stores.py and index.py share.

| module | job |
|---|---|
| machine | where and when something was measured |
| timing | medians, times of calls, memory and disk, workers that answer in lines of JSON |
| data | texts and vectors, made from a seed or real ones; filters, exact neighbours, recall |
| tables | numbers as a person reads them, tables of Markdown |
| output | what a bench of Rust prints, as figures |
| groups | the benches, and how they are run |
| pages | the tables of the documents that are written from a file of figures |
| environments | a virtual environment for each library |
| stores, libraries | the stores and the vector libraries, each behind the same few calls |
| plot | recall against queries a second, as SVG |
"""
