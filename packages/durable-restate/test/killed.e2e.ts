import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { freePort } from '../../../e2e/free-port.ts'
import { durableRestate } from '../src/index.ts'
import type { Entry } from '../src/step-log.ts'
import { ownServer, type Server } from './server.ts'

const program = fileURLToPath(new URL('killed.child.ts', import.meta.url))
const principal = { tenantId: 'acme', userId: 'dana' }

it('a killed turn with four parallel tools goes on: no recorded call is asked, no recorded tool run, again', async () => {
  const [server, port] = [await ownServer(), await freePort()]
  const file = join(await mkdtemp(join(tmpdir(), 'killed-')), 'lines')
  await writeFile(file, '')
  const lines = () => readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const counted = (line: string) => lines().filter((one) => one === line).length
  const begin = async (life: 'first' | 'second') => {
    const child = fork(program, [file, String(port), server.ingress, life], {
      execArgv: ['--conditions=@allium/source', '--import=tsx'],
    })
    await once(child, 'message')
    return child
  }
  let child: ChildProcess | undefined
  try {
    child = await begin('first')
    await server.register(port)
    const durable = durableRestate(new Agent({ model: scriptedModel([]) }), { ingress: server.ingress, name: 'killed' })
    const { run } = await durable.start({ principal, sessionId: 's', input: 'Go' })
    // The other two go on until the kill.
    await expect.poll(() => recordedTools(server)).toEqual(['c', 'd'])
    child.kill('SIGKILL')
    await once(child, 'exit')
    child = await begin('second')
    expect(await durable.attach(run, { principal })).toMatchObject({ status: 'completed', text: 'All done.' })
    expect(['a', 'b', 'c', 'd'].map((name) => counted(`begin ${name}`))).toEqual([2, 2, 1, 1])
    expect([counted('model 1'), lines().filter((line) => line.startsWith('model')).length]).toEqual([1, 2])
  } finally {
    child?.kill('SIGKILL')
    await server.stop()
  }
})

/** The tools whose results Restate has stored. */
async function recordedTools(server: Server): Promise<string[]> {
  const rows = await server.query("select raw from sys_journal where entry_type = 'Notification: Run'")
  const entries = rows.map(({ raw }) => {
    const text = Buffer.from(String(raw), 'hex').toString()
    return JSON.parse(text.slice(text.indexOf('{"steps"'), text.lastIndexOf('}') + 1)) as Entry
  })
  return entries.flatMap(({ steps }) => steps.flatMap(([id]) => /:tool:(\w+):/.exec(id)?.[1] ?? [])).sort()
}
