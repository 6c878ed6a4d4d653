"""libvsim by ctypes: the structs and functions of include/vsim/*.h that the package uses.

The library is loaded at the first use, so that `import vsim` is quick. It is the one of the wheel,
or that of VSIM_LIBRARY, for those who work on the library itself."""
from __future__ import annotations

import ctypes
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char_p, c_double, c_int, c_int32,
                    c_int64, c_size_t, c_uint32, c_void_p)

HERE = os.path.dirname(os.path.abspath(__file__))

# vsim_status
OK, NOCONV, STOP, PAUSED = 0, 1, 4, 5
EINPUT, ENOMEM, ESINGULAR, ESTEP, EIO, EUNSUPPORTED = -1, -2, -3, -4, -5, -6


class Message(Structure):
    pass


Message._fields_ = [('severity', c_int), ('code', c_uint32), ('file', c_char_p), ('line', c_int),
                    ('column', c_int), ('length', c_int), ('source', c_char_p),
                    ('text', c_char_p), ('note', POINTER(Message)), ('n_note', c_size_t)]

LINE_FN = CFUNCTYPE(None, c_void_p, c_char_p)
VARIABLE_FN = CFUNCTYPE(c_void_p, c_void_p, c_char_p)


class Settings(Structure):
    _fields_ = [('size', c_size_t), ('models', c_char_p), ('plugins', c_char_p),
                ('cache', c_char_p), ('include', POINTER(c_char_p)), ('n_include', c_size_t),
                ('macro', POINTER(c_char_p)), ('n_macro', c_size_t), ('threads', c_int),
                ('lanes', c_int), ('cpu', c_char_p), ('interpret', c_bool),
                ('no_specialize', c_bool), ('start_files', c_bool), ('memory', c_size_t),
                ('parallel_min', c_double), ('variable', VARIABLE_FN), ('message', c_void_p),
                ('line', LINE_FN), ('user', c_void_p)]


class Define(Structure):
    _fields_ = [('name', c_char_p), ('value', c_double)]


class Read(Structure):
    _fields_ = [('size', c_size_t), ('define', POINTER(Define)), ('n_define', c_size_t),
                ('file', c_void_p), ('user', c_void_p), ('no_title', c_bool)]


class Unknown(Structure):
    _fields_ = [('name', c_char_p), ('unit', c_char_p), ('node', c_bool), ('internal', c_bool)]


class Device(Structure):
    _fields_ = [('name', c_char_p), ('model', c_char_p), ('type', c_char_p),
                ('node', POINTER(c_char_p)), ('n_node', c_size_t)]


class Model(Structure):
    _fields_ = [('name', c_char_p), ('type', c_char_p)]


class Parameter(Structure):
    _fields_ = [('name', c_char_p), ('unit', c_char_p), ('description', c_char_p),
                ('computed', c_bool)]


# The callables that ctypes calls are C functions of Python (see _guard.py); `user` is an object.
VALUE_FN = CFUNCTYPE(c_double, ctypes.py_object, c_double)


class HostSource(Structure):
    _fields_ = [('value', VALUE_FN), ('next_event', VALUE_FN), ('user', c_void_p)]


class Family(Structure):
    _fields_ = [('n_point', c_int64), ('column', POINTER(c_char_p)), ('n_column', c_size_t)]


class Progress(Structure):
    _fields_ = [('fraction', c_double), ('axis', c_double), ('unit', c_char_p),
                ('points', c_int64), ('iterations', c_int64)]


class DcSweep(Structure):
    _fields_ = [('name', c_char_p), ('value', POINTER(c_double)), ('n', c_size_t)]


class Analysis(Structure):
    _fields_ = [('size', c_size_t), ('kind', c_int), ('sweep', DcSweep * 4),
                ('n_sweep', c_size_t), ('tstep', c_double), ('tstop', c_double),
                ('tstart', c_double), ('tmax', c_double), ('uic', c_bool), ('grid', c_int),
                ('n_freq', c_int64), ('f_from', c_double), ('f_to', c_double), ('out', c_char_p),
                ('source', c_char_p), ('summary', c_int64), ('into', c_char_p * 2),
                ('current_input', c_bool), ('no_poles', c_bool), ('no_zeros', c_bool),
                ('noise', c_bool), ('tone', c_double * 4), ('harmonics', c_int64 * 4),
                ('n_tone', c_size_t), ('intmodmax', c_int64), ('points', c_int64),
                ('tstab', c_double), ('oscillator', c_bool), ('probe', c_char_p * 2),
                ('loop', c_int), ('sideband', c_int64), ('phase', c_bool),
                ('device_noise', c_bool), ('noise_fmax', c_double), ('noise_scale', c_double),
                ('noise_seed', ctypes.c_uint64), ('shooting', c_bool), ('integration', c_int),
                ('f2_over_f1', c_double), ('threshold', c_double), ('noise_form', c_int),
                ('noise_at', c_double), ('noise_edge', c_int64),
                ('port_harmonic', POINTER(c_int64)), ('n_port_harmonic', c_size_t),
                ('halvings', c_int64), ('start_hb', c_bool), ('harmonic_port', POINTER(c_int64)),
                ('sidebands', c_int64), ('tones', POINTER(c_double)),
                ('tone_harmonics', POINTER(c_int64))]


KINDS = ('op', 'dc', 'tran', 'ac', 'noise', 'tf', 'sens', 'pz', 'sp', 'hb', 'hbac', 'hbnoise',
         'lstb', 'acxf', 'dcxf', 'disto', 'dcmatch', 'acmatch', 'hbsp', 'hbxf')    # vsim_kind
CARDS = {'hbosc': 'hb', 'pss': 'hb', 'phasenoise': 'hbnoise'} # other cards of these kinds
GRIDS = {'dec': 0, 'oct': 1, 'lin': 2}     # vsim_grid

PROGRESS_FN = CFUNCTYPE(None, ctypes.py_object, POINTER(Progress))
POLL_FN = CFUNCTYPE(c_bool, c_void_p)


class RunOptions(Structure):
    _fields_ = [('size', c_size_t), ('keep', c_int), ('name', POINTER(c_char_p)),
                ('n_name', c_size_t), ('point', c_void_p), ('progress', PROGRESS_FN),
                ('stop', c_void_p), ('user', c_void_p), ('poll', POLL_FN)]


KEEP_SAVED, KEEP_NAMED = 0, 1


class RunStat(Structure):
    _fields_ = [('accepted', c_int64), ('rejected', c_int64), ('iterations', c_int64),
                ('evaluations', c_int64), ('bypasses', c_int64), ('op_method', c_char_p),
                ('seconds', c_double)]


class Vector(Structure):
    _fields_ = [('name', c_char_p), ('kind', c_char_p), ('unit', c_char_p),
                ('complex_values', c_bool), ('n', c_size_t), ('v', c_void_p)]


class Measured(Structure):
    _fields_ = [('name', c_char_p), ('value', c_double)]


class Equations(Structure):
    _fields_ = [('n', c_int32), ('colptr', c_void_p), ('row', c_void_p), ('g', c_void_p),
                ('c', c_void_p), ('f', c_void_p), ('q', c_void_p), ('x', c_void_p)]


_P, _S, _N = c_void_p, c_char_p, c_size_t


def _out(kind):
    return POINTER(kind)


# name: (result, arguments); a handle is a c_void_p.
_PROTOTYPES = {
    'vsim_version': (_S, []),
    'vsim_status_text': (_S, [c_int]),
    'vsim_message_format': (_N, [_out(Message), _P, _N]),
    'vsim_settings_init_size': (None, [_out(Settings), _N]),
    'vsim_cache_folder': (c_bool, [_S, _S, _P, _N]),
    'vsim_new': (c_int, [_out(_P), _out(Settings)]),
    'vsim_free': (None, [_out(_P)]),
    'vsim_messages': (_P, [_P, _out(_N)]),
    'vsim_deck_file': (c_int, [_P, _S, _out(Read), _out(_P)]),
    'vsim_deck_text': (c_int, [_P, _S, _S, _N, _out(Read), _out(_P)]),
    'vsim_deck_free': (None, [_out(_P)]),
    'vsim_deck_title': (_S, [_P]),
    'vsim_deck_build': (c_int, [_P]),
    'vsim_deck_card_count': (_N, [_P]),
    'vsim_deck_card_kind': (c_int, [_P, _N]),
    'vsim_deck_output': (c_int, [_P, _S, _S]),
    'vsim_deck_close_output': (c_int, [_P]),
    'vsim_unknown_count': (c_int, [_P, _out(_N)]),
    'vsim_unknown_at': (c_int, [_P, _N, _out(Unknown)]),
    'vsim_device_count': (c_int, [_P, _out(_N)]),
    'vsim_device_at': (c_int, [_P, _N, _out(Device)]),
    'vsim_model_count': (c_int, [_P, _out(_N)]),
    'vsim_model_at': (c_int, [_P, _N, _out(Model)]),
    'vsim_device_parameter_count': (c_int, [_P, _S, _out(_N)]),
    'vsim_device_parameter_at': (c_int, [_P, _S, _N, _out(Parameter)]),
    'vsim_model_parameter_count': (c_int, [_P, _S, _out(_N)]),
    'vsim_model_parameter_at': (c_int, [_P, _S, _N, _out(Parameter)]),
    'vsim_param_count': (c_int, [_P, _out(_N)]),
    'vsim_param_at': (c_int, [_P, _N, _out(_S)]),
    'vsim_get_param': (c_int, [_P, _S, _out(c_double)]),
    'vsim_set_param': (c_int, [_P, _S, c_double]),
    'vsim_get_device': (c_int, [_P, _S, _S, _out(c_double)]),
    'vsim_set_device': (c_int, [_P, _S, _S, c_double]),
    'vsim_set_wave': (c_int, [_P, _S, _S, _P, _N]),
    'vsim_get_model': (c_int, [_P, _S, _S, _out(c_double)]),
    'vsim_set_model': (c_int, [_P, _S, _S, c_double]),
    'vsim_get_temp': (c_double, [_P]),
    'vsim_set_temp': (c_int, [_P, c_double]),
    'vsim_set_options': (c_int, [_P, _S]),
    'vsim_get_option': (c_int, [_P, _S, _out(c_double)]),
    'vsim_set_sample': (c_int, [_P, ctypes.c_uint64, c_int64]),
    'vsim_reset': (c_int, [_P]),
    'vsim_set_host_source': (c_int, [_P, _S, _out(HostSource)]),
    'vsim_family_of': (c_int, [_P, _out(Family)]),
    'vsim_family_set': (c_int, [_P, c_int64, _out(_S)]),
    'vsim_family_value': (c_int, [_P, c_int64, _N, _out(c_double)]),
    'vsim_equations_at': (c_int, [_P, _P, _out(Equations)]),
    'vsim_run_card': (c_int, [_P, _S, _out(RunOptions), _out(_P)]),
    'vsim_run_deck_card': (c_int, [_P, _N, _out(RunOptions), _out(_P)]),
    'vsim_run_analysis': (c_int, [_P, _out(Analysis), _out(RunOptions), _out(_P)]),
    'vsim_run_go': (c_int, [_P]),
    'vsim_run_until': (c_int, [_P, c_double]),
    'vsim_run_stop': (c_int, [_P]),
    'vsim_run_checkpoint': (c_int, [_P, c_char_p]),
    'vsim_run_restart': (c_int, [_P, c_char_p]),
    'vsim_run_free': (None, [_out(_P)]),
    'vsim_run_axis': (c_double, [_P]),
    'vsim_run_stats': (None, [_P, _out(RunStat)]),
    'vsim_run_plot_count': (_N, [_P]),
    'vsim_run_plot': (_P, [_P, _N]),
    'vsim_plot_name': (_S, [_P]),
    'vsim_plot_vector_count': (_N, [_P]),
    'vsim_plot_vector': (c_bool, [_P, _N, _out(Vector)]),
    'vsim_plot_find': (c_bool, [_P, _S, _out(Vector)]),
    'vsim_plot_axis': (c_bool, [_P, _out(Vector)]),
    'vsim_run_vector': (c_int, [_P, _S, _out(Vector)]),
    'vsim_run_measure': (c_int, [_P, _S, _out(c_double)]),
    'vsim_run_measured_count': (_N, [_P]),
    'vsim_run_measured': (c_bool, [_P, _N, _out(Measured)]),
}


class Library:
    """The functions, as attributes without `vsim_`."""

    def __init__(self, path):
        self.path = path
        dll = ctypes.CDLL(path)
        for name, (result, arguments) in _PROTOTYPES.items():
            f = getattr(dll, name)
            f.restype, f.argtypes = result, arguments
            setattr(self, name[len('vsim_'):], f)


_loaded = None


def load():
    """The library. Whoever comes first loads it; a second time is no harm."""
    global _loaded
    if _loaded is None:
        _loaded = Library(library_path())
    return _loaded


def library_path():
    path = os.environ.get('VSIM_LIBRARY')
    if path:
        return path
    try:
        from . import _where
    except ImportError:
        raise ImportError('this package has no library: install a wheel (docs/python.md), or name '
                          'a libvsim.so by VSIM_LIBRARY') from None
    return os.path.join(HERE, _where.LIBRARY)


def text(raw):
    return raw.decode('utf-8', 'surrogateescape') if raw is not None else ''


def raw(name):
    """A name as the library takes it."""
    data = os.fsencode(name) if isinstance(name, str) else name
    if b'\0' in data:
        raise ValueError('a text for the simulator has a zero byte: %r' % (name,))
    return data
