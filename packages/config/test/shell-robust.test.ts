import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { scriptedModel } from '@allium/testing'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../src/index.ts'
import { isMarked, listProcesses } from '../src/shell/processes.ts'
import { callsBash, type Files, project, read, turnIn, write } from './kit.ts'

const timeout = 300
/** Half the time that the hooks here would sleep: on a busy machine their ends take long, too. */
const soon = 30_000

/** The processes of a test that live. */
const marked = async (mark: string) => (await listProcesses()).filter((one) => isMarked(one, `TEST_MARK=${mark}`))

/** One turn with a policy hook before its tool; tells how long it took, and what is left of the hook's processes. */
async function policy(
  script: string,
  { files = {}, run = './hook.sh', timeout = 20_000, ...entry }: { files?: Files; run?: string; timeout?: number } = {},
) {
  const mark = randomUUID()
  const root = project({ 'hook.sh': script, ...files })
  const hook = { run: run.replace('ROOT', root), timeout, env: { TEST_MARK: mark }, ...entry }
  write(root, 'allium.config.yml', JSON.stringify({ agent: { middleware: { beforeToolExecution: [hook] } } }))
  const { result, log, ms } = await turnIn(root, { steps: callsBash() })
  const left = await marked(mark)
  return { root, log, ms, left, tool: result?.toolCalls[0]?.result, why: log.at(-1)?.message ?? '' }
}

describe.skipIf(process.platform !== 'linux')('a shell hook', () => {
  test('that ignores a large stdin is no failure', async () => {
    const root = project({ 'hook.sh': 'exec 0<&-; echo "{}"' })
    write(root, 'allium.config.yml', JSON.stringify({ agent: { middleware: { beforeModelCall: ['./hook.sh'] } } }))
    const { result, log } = await turnIn(root, { input: 'x'.repeat(5_000_000) })
    expect(result?.status).toBe('completed')
    expect(log).toEqual([])
  })

  test('that never ends is killed, and denies', async () => {
    const { tool, ms, left } = await policy('sleep 60; echo "{}"', { timeout })
    expect(tool?.content).toBe('The hook "beforeToolExecution" took too long.')
    expect(ms).toBeLessThan(soon)
    expect(left).toEqual([])
  })

  test('that ignores SIGTERM is killed after 3 s more', async () => {
    const { tool, ms, left } = await policy("trap '' TERM; while :; do sleep 1; done", { timeout })
    expect(tool?.status).toBe('denied')
    expect(ms).toBeGreaterThan(timeout + 2_900)
    expect(ms).toBeLessThan(soon)
    expect(left).toEqual([])
  })

  test('leaves no child behind, not even one in a session of its own', async () => {
    const { tool, ms, left } = await policy('setsid sleep 60 & (setsid sh -c "sleep 60 & sleep 60" &) ; sleep 60', {
      timeout,
    })
    expect(tool?.status).toBe('denied')
    expect(ms).toBeLessThan(soon)
    expect(left).toEqual([])
  })

  test('whose child holds stdout is taken at its exit, and the child ends', async () => {
    const { tool, ms, left } = await policy(`echo '{"deny": "no"}'; sleep 60 & exit 0`)
    expect(tool?.content).toBe('no')
    expect(ms).toBeLessThan(soon)
    expect(left).toEqual([])
  })

  test('whose child left its session and holds stdout is taken too, and the child ends', async () => {
    const { tool, left } = await policy(`echo '{"deny": "no"}'; setsid sleep 60 & exit 0`)
    expect(tool?.content).toBe('no')
    expect(left).toEqual([])
  })

  test('that writes 50 MB is ended at 8, and denies', async () => {
    const { tool, why, left } = await policy('head -c 50000000 /dev/zero')
    expect(tool?.status).toBe('denied')
    expect(why).toContain('wrote more than 8 MiB to stdout')
    expect(left).toEqual([])
  })

  test('that writes 50 MB to stderr is heard to its end, and its lines are cut', async () => {
    const { tool, log } = await policy("head -c 50000000 /dev/zero | tr '\\0' x >&2; echo '{}'")
    expect(tool?.status).toBe('ok')
    expect(Math.max(...log.map(({ message }) => message.length))).toBeLessThan(5_000)
  })

  test.each([
    ['no JSON', 'echo all fine'],
    ['two documents', `echo '{}'; echo '{"deny": "no"}'`],
    ['a list', 'echo "[]"'],
    ['a field of another type', `echo '{"stop": 5}'`],
    ['half a document', `printf '{"deny": "n'`],
  ])('that writes %s denies', async (_what, script) => {
    const { tool, why } = await policy(script)
    expect(tool?.content).toBe('The hook "beforeToolExecution" failed.')
    expect(why).toContain('wrote to stdout, but')
  })

  test('that dies by a signal denies', async () => {
    const { tool, why } = await policy('kill -9 $$')
    expect(tool?.status).toBe('denied')
    expect(why).toContain('was ended by SIGKILL')
  })

  test.each([
    ['is not there', 'shell: no-such-program-here', 'ENOENT'],
    ['may not be run', 'shell: ROOT/plain', 'EACCES'],
  ])('whose program %s denies', async (_what, run, code) => {
    const { tool, why } = await policy('', { run, files: { plain: 'text' } })
    expect(tool?.status).toBe('denied')
    expect(why).toContain('could not be started')
    expect(why).toContain(code)
  })

  test('without its run bit is run by its interpreter', async () => {
    const root = project({ 'hook.sh': `echo '{"deny": "no"}'` })
    chmodSync(join(root, 'hook.sh'), 0o600)
    write(root, 'allium.config.yml', JSON.stringify({ agent: { middleware: { beforeToolExecution: ['./hook.sh'] } } }))
    const { result } = await turnIn(root, { steps: callsBash() })
    expect(result?.toolCalls[0]?.result.content).toBe('no')
  })

  test('is killed when the run is aborted', async () => {
    const mark = randomUUID()
    const root = project({ 'hook.sh': 'touch started; sleep 60' })
    write(
      root,
      'allium.config.yml',
      JSON.stringify({ agent: { middleware: { beforeModelCall: [{ run: './hook.sh', env: { TEST_MARK: mark } }] } } }),
    )
    const run = (await loadConfig(join(root, 'allium.config.yml'), { model: scriptedModel(['Hello.']) })).run('Hi')
    await expect.poll(() => read(root, 'started'), { timeout: 15_000 }).toBe('')
    run.abort('enough')
    await expect(run).rejects.toThrow('enough')
    expect(await marked(mark)).toEqual([])
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('ends with a program that %s ends', async (signal) => {
    const mark = randomUUID()
    const root = project({ 'hook.sh': 'setsid sleep 60 & touch started; sleep 60' })
    const hook = { run: './hook.sh', env: { TEST_MARK: mark } }
    write(root, 'allium.config.yml', JSON.stringify({ agent: { middleware: { beforeModelCall: [hook] } } }))
    const child = fork(new URL('./run.child.ts', import.meta.url), [root], {
      execArgv: ['--conditions=@allium/source', `--import=${import.meta.resolve('tsx')}`],
      stdio: 'ignore',
    })
    await expect.poll(() => existsSync(join(root, 'started')), { timeout: 15_000 }).toBe(true)
    child.kill(signal)
    expect(await once(child, 'exit')).toEqual([null, signal])
    await expect.poll(() => marked(mark), { timeout: 15_000 }).toEqual([])
  })

  test('is ended in time, though twenty of them ignore SIGTERM, and warns of nothing', async () => {
    const warned: string[] = []
    const note = (warning: Error) => void warned.push(warning.message)
    process.on('warning', note)
    const toolCalls = Array.from({ length: 20 }, (_, i) => ({ name: 'bash', callId: `c${i}`, args: { command: 'ls' } }))
    const root = project({ 'hook.sh': "trap '' TERM; while :; do sleep 1; done" })
    const hook = { run: './hook.sh', timeout }
    write(root, 'allium.config.yml', JSON.stringify({ agent: { middleware: { beforeToolExecution: [hook] } } }))
    const { result, ms } = await turnIn(root, { steps: [{ toolCalls }, 'Done.'], toolConcurrency: 20 })
    process.off('warning', note)
    expect(result?.toolCalls.map(({ result }) => result.status)).toEqual(toolCalls.map(() => 'denied'))
    expect(warned).toEqual([])
    expect(ms).toBeLessThan(soon)
  })

  test('shares one reading of the process table with all that wait for it', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, listProcesses))
    expect(new Set(all).size).toBe(2)
  })
})
