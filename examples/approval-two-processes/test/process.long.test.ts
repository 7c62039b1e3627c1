import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, it } from 'vitest'
import { programFlags } from '../../../e2e/program-flags.ts'

const folder = mkdtempSync(join(tmpdir(), 'allium-approval-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe.concurrent('an approval across two processes', { timeout: 120_000 }, () => {
  it('shows it approved, edited, tampered with and denied', async ({ expect }) => {
    const { code, out, err } = await run('index', [], {})
    expect([code, err]).toEqual([0, ''])
    const parts = out.split('── ').slice(1)
    expect(parts.map((part) => part.split(' ─')[0])).toEqual([
      'A person approves',
      'A person approves less',
      'The file is tampered with in between',
      'A person denies',
    ])
    const [approved, edited, forged, denied] = parts as [string, string, string, string]
    for (const part of parts) expect(part).toMatch(/^pending +refund \{"orderId":"A-1042","amount":40\}$/m)
    expect(approved).toMatch(/^paid +\$40.*\nstatus +completed\nanswer +Your money/m)
    expect(edited).toMatch(/^paid +\$20.*\nstatus +completed\nanswer +Your money/m)
    expect(forged).toMatch(/^refused +approval\.forged: The call "call-1" differs from the suspended one/m)
    expect(denied).toMatch(/^status +completed\nanswer +I am sorry/m)
    for (const part of [forged, denied]) expect(part).not.toContain('paid')
    expect(new Set(out.match(/\(process \d+\)/g)).size).toBe(8)
  })

  it('resumes only with the secret and the token of the first process', async ({ expect }) => {
    const env = { APPROVAL_FILE: join(folder, 'other.json'), APPROVAL_SECRET: 'one' }
    const { out } = await run('ask', [], env)
    const token = /^token +(\S+)$/m.exec(out)?.[1] as string
    expect(readFileSync(env.APPROVAL_FILE, 'utf8')).not.toContain('"one"')
    const guessed = await run('decide', ['approve', 'guess'], env)
    const stranger = await run('decide', ['approve', token], { ...env, APPROVAL_SECRET: 'two' })
    const right = await run('decide', ['approve', token], env)
    expect([guessed.code, stranger.code, right.code]).toEqual([1, 1, 0])
    expect(guessed.out).toContain('approval.forged')
    expect(stranger.out).toContain('approval.forged')
    expect(right.out).toContain('paid     $40')
  })

  it('says that the secret is missing', async ({ expect }) => {
    const { code, out } = await run('decide', ['approve', 'x'], { APPROVAL_FILE: join(folder, 'none.json') })
    expect(code).toBe(1)
    expect(out).toContain('APPROVAL_SECRET')
  })
})

/** A program of the example, as `npm start` runs it. */
function run(name: string, args: readonly string[], env: Record<string, string>) {
  const program = fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url))
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [...programFlags, program, ...args],
      { cwd: fileURLToPath(new URL('..', import.meta.url)), env: { PATH: process.env.PATH, ...env } },
      (_, out, err) => resolve({ code: child.exitCode ?? 1, out, err }),
    )
  })
}
