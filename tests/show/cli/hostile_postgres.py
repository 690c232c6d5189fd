"""A PostgreSQL server that means no good: hostile_postgres.py MODE PORT."""
import socket,struct,threading,time,sys
mode=sys.argv[1]
def msg(t,b): return t+struct.pack('!I',len(b)+4)+b
l=socket.socket(); l.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1); l.bind(('127.0.0.1',int(sys.argv[2]))); l.listen(10)
def h(c):
    try:
        d=c.recv(1000)
        if d[4:8]==struct.pack('!I',80877103): c.sendall(b'N'); d=c.recv(1000)
        if mode=='trickle-auth':
            while True: c.sendall(msg(b'N',b'SNOTICE\0Mhi\0\0')); time.sleep(2)
        c.sendall(msg(b'R',struct.pack('!I',0))); 
        if mode=='trickle-param':
            while True: c.sendall(msg(b'S',b'a\0b\0')); time.sleep(2)
        c.sendall(msg(b'S',b'server_version\x0015.0\0')+msg(b'S',b'client_encoding\0UTF8\0')+msg(b'K',struct.pack('!II',1,2))+msg(b'Z',b'I'))
        n=0
        while True:
            d=c.recv(65536)
            if not d: break
            n+=1
            if mode=='trickle-query':
                while True: c.sendall(msg(b'N',b'SNOTICE\0Mhi\0\0')); time.sleep(2)
            if mode=='bigrow':
                # row description 1 col then huge rows
                c.sendall(msg(b'T',struct.pack('!H',1)+b'c\0'+struct.pack('!IHIhih',0,0,25,-1,-1,0)))
                blob=b'x'*1000000
                while True: c.sendall(msg(b'D',struct.pack('!HI',1,len(blob))+blob))
            if mode=='error':
                c.sendall(msg(b'E',b'SERROR\0C42P01\0Mrelation \x1b[31m\xe2\x80\xaeevil\nline2\0\0')+msg(b'Z',b'I'))
    except Exception as e: pass
print('ready',flush=True)
while True:
    c,_=l.accept(); threading.Thread(target=h,args=(c,),daemon=True).start()
