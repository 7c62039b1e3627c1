/** Runs the two processes one after the other, four times: approved, edited, tampered with in between, denied. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as memory from 'allium/memory'
import { openStore } from './store.ts'

const folder = mkdtempSync(join(tmpdir(), 'allium-approval-'))
const env = { ...process.env, APPROVAL_FILE: '', APPROVAL_SECRET: randomBytes(32).toString('base64url') }
let files = 0

try {
  heading('A person approves')
  run('decide', 'approve', ask())

  heading('A person approves less')
  run('decide', 'edit', ask())

  heading('The file is tampered with in between')
  const token = ask()
  await edit('"amount":40', '"amount":4000')
  console.log('edited   the amount: $4000\n')
  run('decide', 'approve', token)

  heading('A person denies')
  run('decide', 'deny', ask())
} finally {
  rmSync(folder, { recursive: true })
}

/** Runs the first process with a separate store. Returns the token that it prints. */
function ask(): string {
  env.APPROVAL_FILE = join(folder, `${files++}.db`)
  return /^token +(\S+)$/m.exec(run('ask'))?.[1] ?? ''
}

/** Simulates an attacker with access to the store but without the secret. */
async function edit(text: string, other: string): Promise<void> {
  const store = openStore(env.APPROVAL_FILE)
  const lines: string[] = []
  for await (const line of memory.exportSessions(store.sessions, { tenant: 'acme' })) lines.push(line)
  await store.sessions.erase({ tenant: 'acme' })
  await memory.importSessions(
    store.sessions,
    lines.map((line) => line.replaceAll(text, other)),
  )
  store.close()
}

/** Runs a process to its end. Returns its output. */
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
