"""The interface of usearch over :class:`memorist.VectorIndex`, as far as usearch's own tests of an index use it.

Different on purpose:

- Vectors are kept in 16 bits a number, whatever `dtype` says.
- With the cosine, vectors are kept without their lengths: this interface keeps these.
- An id has one vector (`multi` is refused), and adding it again replaces that: this interface refuses it, as usearch does.
- Arrays in the order of Fortran are converted: this interface refuses them, as usearch does.
- An index is a folder and opened by its path: there are no bytes of an index to save, to load and to copy.
- There are no other metrics, no clusters, no statistics of levels.
"""
