/** Writes an audit trail of three turns, then tampers with it in several ways. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as observe from 'allium/observe'
import { threeTurns } from './three-turns.ts'

const folder = mkdtempSync(join(tmpdir(), 'allium-audit-'))
try {
  const file = join(folder, 'audit.jsonl')
  const secret = process.env.AUDIT_SECRET ?? 'kept where the file is not'
  const { asked, explained, head } = await threeTurns({ file, secret }, process.env.ALLIUM_MODEL || undefined)
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')

  heading('Three turns')
  for (const { question, status } of asked) console.log(`${status?.padEnd(10)} ${question}`)

  heading('What is on record')
  for (const [i, line] of lines.entries()) {
    const { user, type, tool = '', status = '', reason = '' } = JSON.parse(line)
    console.log(`${String(i + 1).padStart(2)}  ${user}  ${[type, tool, status, reason].filter(Boolean).join(' · ')}`)
  }
  console.log(`\nThe head, stored elsewhere: record ${head?.seq}, ${head?.hash.slice(0, 8)}…`)

  heading('Is it as it was written?')
  const denied = lines.findIndex((line) => line.includes('"status":"denied"'))
  // With a real model, the policy may deny nothing, and this record is missing.
  const edited = lines.with(denied, lines[denied]?.replace('"status":"denied"', '"status":"ok"') ?? '')
  await check('untouched', lines)
  if (denied >= 0) await check('a denial made an approval', edited)
  await check('one record removed', lines.toSpliced(2, 1))
  await check('two records swapped', lines.with(0, lines[1] ?? '').with(1, lines[0] ?? ''))
  await check('the last turn cut off, no head', lines.slice(0, -3), { head: undefined })
  await check('the last turn cut off', lines.slice(0, -3))

  // An attacker with write access can replace the whole file with valid hashes, but has neither the secret nor the head.
  const forgery = join(folder, 'forged.jsonl')
  await threeTurns({ file: forgery })
  const forged = readFileSync(forgery, 'utf8').trimEnd().split('\n')
  await check('all of it forged, no secret, no head', forged, { secret: undefined, head: undefined })
  await check('all of it forged, no secret', forged, { secret: undefined })
  await check('all of it forged', forged)

  heading('Why did the second turn end this way?')
  console.log(explained[1])
  heading('And the third?')
  console.log(explained[2])

  async function check(what: string, source: readonly string[], less: object = {}): Promise<void> {
    const { ok, records, firstBad } = await observe.verify(source, { secret, head, ...less })
    const found = ok ? `ok, ${records} records` : `line ${firstBad?.line}: ${firstBad?.reason}`
    console.log(`${what.padEnd(38)} ${found}`)
  }
} finally {
  rmSync(folder, { recursive: true })
}

function heading(text: string): void {
  console.log(`\n── ${text}\n`)
}
