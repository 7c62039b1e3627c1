import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { durableRestate } from '../src/index.ts'
import { freePort, ownServer } from './server.ts'

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
    // The last of the four ends first: the order in which they ended is not that in which they are asked for.
    while (counted('end c') === 0) await sleep(5)
    // Restate has the result of c soon after. The other two go on until the kill.
    await sleep(1_000)
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
