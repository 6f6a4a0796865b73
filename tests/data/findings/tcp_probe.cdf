# bytes percent
0 0
0 20
5001 100
