/** Runs the two processes, one after the other, four times: approved, edited, tampered with in between, denied. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = mkdtempSync(join(tmpdir(), 'allium-approval-'))
const file = join(folder, 'waiting.json')
const env = { ...process.env, APPROVAL_FILE: file, APPROVAL_SECRET: randomBytes(32).toString('base64url') }

try {
  heading('A person approves')
  run('decide', 'approve', ask())

  heading('A person approves less')
  run('decide', 'edit', ask())

  heading('Somebody edits the file in between')
  const token = ask()
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"amount": 40', '"amount": 4000'))
  console.log('edited   the amount: $4000\n')
  run('decide', 'approve', token)

  heading('A person denies')
  run('decide', 'deny', ask())
} finally {
  rmSync(folder, { recursive: true })
}

/** The first process; gives the token that it prints. */
function ask(): string {
  return /^token +(\S+)$/m.exec(run('ask'))?.[1] ?? ''
}

/** One process from its start to its end, and what it printed. */
function run(name: 'ask' | 'decide', ...args: string[]): string {
  const program = fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
  const { pid, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, program, ...args], {
    env,
    encoding: 'utf8',
  })
  console.log(`$ ${[name, ...args.map((arg) => (arg.length > 12 ? '<token>' : arg))].join(' ')}   (process ${pid})`)
  console.log(stdout + stderr)
  return stdout
}

function heading(text: string): void {
  console.log(`── ${text} ${'─'.repeat(60 - text.length)}\n`)
}
