"""All plots of a binary raw file."""
import array


def read_raw(path):
    """[(plot name, {vector: array of doubles, complex ones as pairs}, complex)] of a binary raw file."""
    with open(path, 'rb') as f:
        data = f.read()
    plots, at = [], 0
    while at < len(data):
        end = data.index(b'Binary:\n', at)
        lines = data[at:end].decode('utf-8').split('\n')
        field = dict(line.split(': ', 1) for line in lines if ': ' in line)
        names = [line.split('\t')[2] for line in lines if line.startswith('\t')]
        width = 2 if 'complex' in field['Flags'] else 1
        count = int(field['No. Points']) * len(names) * width
        values = array.array('d')
        at = end + 8
        values.frombytes(data[at:at + 8 * count])
        at += 8 * count
        columns = {}
        for i, n in enumerate(names):
            re = values[i * width::len(names) * width]
            columns[n] = [complex(a, b) for a, b in zip(re, values[i * width + 1::len(names) * width])] \
                if width == 2 else list(re)
        plots.append((field['Plotname'], columns))
    return plots
