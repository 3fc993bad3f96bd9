def prove(graphs, work):
    return True
