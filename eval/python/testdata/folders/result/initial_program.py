def run():
    print("running")
    return [1.0, 2.0]
