#!/usr/bin/env python3
"""Plants errors in notes that have none and counts how many `jeoul audit` finds: JEOUL NOTES_FOLDER PLANTED.tsv [LEAST_SHARE [EVERY]].

A row of the table is a file, words of it, the same words with an error in them, and what kind of error it is. Found: a finding on a line
that the edit touched. Prints what was missed, and fails below the share asked for, on an edit that has no place, and on a note that has a
finding as it stands. EVERY: of the rows one in so many."""
import json, os, subprocess, sys, tempfile


def audit(jeoul, path):
	out = subprocess.run([jeoul, 'audit', path, '--json'], capture_output=True, text=True, timeout=60)
	if out.returncode:
		sys.exit('%s: %s' % (path, out.stderr))
	return [f for f in json.loads(out.stdout)['findings'] if f['shown'] and f['verdict'] in ('wrong', 'differs', 'unlikely')]


def corrected(jeoul, path):
	"""The lines that --fix would replace."""
	out = subprocess.run([jeoul, 'audit', path, '--fix'], capture_output=True, text=True, timeout=60)
	return [line[1:] for line in out.stdout.split('\n') if line.startswith('-') and not line.startswith('--- ')]


def main():
	jeoul, folder, table = sys.argv[1:4]
	least = float(sys.argv[4]) if len(sys.argv) > 4 else 0
	every = int(sys.argv[5]) if len(sys.argv) > 5 else 1
	n = found = alarms = elsewhere = fixed = harm = 0
	missed, files = [], set()
	with tempfile.TemporaryDirectory() as work:
		for row in [r for r in open(table, encoding='utf-8') if not r.startswith('#') and r.strip()][::every]:
			name, old, new, kind = row.rstrip('\n').split('\t')
			old, new = (s.replace('\\n', '\n').replace('\\t', '\t') for s in (old, new))
			text = open(os.path.join(folder, name), encoding='utf-8').read()
			if text.count(old) != 1:
				sys.exit('%s: %r stands there %d times' % (name, old, text.count(old)))
			if name not in files:
				files.add(name)
				for f in audit(jeoul, os.path.join(folder, name)):
					alarms += 1
					print('alarm in the unchanged %s:%d: %s (%s)' % (name, f['line'], f['written'], f['why']))
			at = text.index(old)
			first = text.count('\n', 0, at) + 1
			lines = range(first, first + old.count('\n') + 1)
			path = os.path.join(work, name)
			open(path, 'w', encoding='utf-8').write(text.replace(old, new))
			got = audit(jeoul, path)
			hit = any(int(f['line']) in lines for f in got)
			n += 1
			found += hit
			elsewhere += sum(int(f['line']) not in lines and f['follows_from'] is None for f in got)
			replaced = corrected(jeoul, path)
			fixed += bool(replaced)
			for line in replaced:
				if line in text.split('\n'):
					harm += 1
					print('written over in %s: %s' % (name, line))
			if not hit:
				missed.append('%s: %r -> %r (%s)%s' % (name, old, new, kind, ' [%s]' % got[0]['line'] if got else ''))
	for m in missed:
		print('missed', m)
	print('%d of %d planted errors found (%.0f %%); %d corrected, %d right lines written over; %d alarms in %d unchanged notes; %d '
	      'findings on other lines' % (found, n, 100 * found / n, fixed, harm, alarms, len(files), elsewhere))
	sys.exit(found < least * n or alarms > len(files) or harm > 0)


main()
