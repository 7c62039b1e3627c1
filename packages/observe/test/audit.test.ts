import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { delegate, type Journal, type Middleware } from '@allium/core'
import { memoryJournal } from '@allium/store/journal'
import { leaks, type ManualClock, manualClock, type ScriptedStep } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import {
  type AuditFile,
  type AuditFileOptions,
  type AuditFs,
  type AuditOptions,
  audit,
  auditFile as newAuditFile,
  verify,
} from '../src/index.ts'
import { calling, decide, naughty, scene, tool } from './scene.ts'

type Record = { [field: string]: unknown }

/** An agent that pays, and what it wrote. */
function audited(
  options: Partial<AuditOptions> = {},
  {
    steps = [calling(['pay', { to: 'ada', cents: 5 }]), 'Paid.'],
    layers = [] as Middleware[],
    requireApproval = false,
  } = {},
) {
  const lines: string[] = []
  const layer = audit({ sink: (line) => void lines.push(line), ...options })
  const made = scene(steps, [layer, ...layers], { name: 'desk', tools: [tool('pay', undefined, { requireApproval })] })
  const session = made.agent.session({ id: 's', principal: { tenantId: 'acme', userId: 'ada' } })
  const records = (): Record[] => lines.map((line) => JSON.parse(line))
  return { ...made, lines, layer, session, records, types: () => records().map(({ type }) => type) }
}

const everything = [
  'turn:start',
  'model:start',
  'model:end',
  'tool:start',
  'tool:end',
  'model:start',
  'model:end',
  'turn:end',
]

describe('observe.audit', () => {
  it('writes down who did what, in which session and turn', async () => {
    const { session, records, types } = audited()
    const { turnId } = await session.run('Pay ada')
    expect(types()).toEqual(everything)
    const who = { tenant: 'acme', user: 'ada', agent: 'desk', session: 's', turn: turnId }
    for (const record of records()) expect(record).toMatchObject({ ...who, at: '2026-01-01T00:00:00.000Z' })
    const [, , model, , paid, , , end] = records()
    expect(model).toMatchObject({ model: 'scripted/model', finishReason: 'tool-calls', calls: [{ name: 'pay' }] })
    expect(paid).toMatchObject({ tool: 'pay', status: 'ok', attempt: 1 })
    expect(end).toMatchObject({ status: 'completed', usage: { inputTokens: 20, outputTokens: 10, calls: 2 } })
  })

  it('has what was said to the running turn on record, as the layers outside have left it', async () => {
    const redacts: Middleware = {
      name: 'redacts',
      order: { is: ['redacts'] },
      turn(ctx, next) {
        ctx.onInput((message) => ({ ...message, content: String(message.content).replace('4111', '[CARD]') }))
        return next()
      },
    }
    const lines: string[] = []
    const { agent } = scene(
      [calling(['pay']), 'Paid.'],
      [redacts, audit({ sink: (line) => lines.push(line), content: true })],
      {
        tools: [tool('pay', () => void run.steer('With 4111, please.'))],
      },
    )
    const run = agent.session({ id: 's' }).run('Pay ada')
    await run
    const said = lines.map((line) => JSON.parse(line)).filter(({ type }) => type.startsWith('turn:st'))
    expect(said.map(({ type, input }) => [type, input[0].content])).toEqual([
      ['turn:start', 'Pay ada'],
      ['turn:steer', 'With [CARD], please.'],
    ])
  })

  it('keeps digests of texts, and the texts only when it is told to', async () => {
    const digested = audited()
    await digested.session.run('secret-input')
    expect(leaks(digested.lines, /secret-input|cents|pay ran|Paid\./)).toEqual([])
    expect(digested.records()[3]?.args).toMatch(/^digest:[0-9a-f]{64}$/)

    const { session, records } = audited({ content: true })
    await session.run('secret-input')
    expect(records()[0]).toMatchObject({ input: [{ role: 'user', content: 'secret-input' }] })
    expect(records()[3]).toMatchObject({ args: { to: 'ada', cents: 5 } })
    expect(records()[4]).toMatchObject({ result: 'pay ran' })
    expect(records()[6]).toMatchObject({ answer: 'Paid.' })
  })

  it('refuses a secret that is not set: nothing would be signed', () => {
    const secret = undefined as unknown as string
    expect(() => audit({ sink() {}, secret })).toThrow('Is its variable set?')
    expect(() => audit({ sink() {}, secret: '' })).toThrow('empty')
  })

  it('gives equal digests for equal arguments, whatever the order of their keys, and others with a secret', async () => {
    const twice = [calling(['pay', { a: 1, b: 2 }], ['pay', { b: 2, a: 1 }]), 'Paid.']
    const digests = async (options: Partial<AuditOptions>) => {
      const { session, records } = audited(options, { steps: twice })
      await session.run('go')
      return records().flatMap(({ type, args }) => (type === 'tool:start' ? [args] : []))
    }
    const [one, other] = await digests({})
    const [sealed] = await digests({ secret: 'k' })
    expect([one === other, one === sealed]).toEqual([true, false])
  })

  it('writes down denials with their reason, and that the tool failed without its message', async () => {
    const policy: Middleware = { name: 'policy', tool: (ctx) => ctx.deny('over the limit') }
    const denied = audited({}, { layers: [policy] })
    await denied.session.run('go')
    expect(denied.records()[4]).toMatchObject({ status: 'denied', reason: 'over the limit' })

    const lines: string[] = []
    const breaks = tool('breaks', () => {
      throw new TypeError('card of Grünau refused')
    })
    const { agent } = scene([calling(['breaks']), 'ok'], [audit({ sink: (line) => lines.push(line) })], {
      tools: [breaks],
    })
    await agent.run('go')
    expect(JSON.parse(lines[4] as string)).toMatchObject({ status: 'error', error: 'TypeError' })
    expect(leaks(lines, 'Grünau')).toEqual([])
  })

  it('writes down the arguments that ran, where a layer inside changed them', async () => {
    const changes: Middleware = {
      name: 'changes',
      tool(ctx, next) {
        ctx.modifyArgs({ cents: 1 })
        return next()
      },
    }
    const { session, records } = audited({ content: true }, { layers: [changes] })
    await session.run('go')
    expect([records()[3]?.args, records()[4]?.args]).toEqual([
      { to: 'ada', cents: 5 },
      { to: 'ada', cents: 1 },
    ])
  })

  it.each<[string, Middleware, Record]>([
    ['a block', { name: 'x', model: (ctx) => ctx.block('spicy') }, { status: 'blocked', reason: 'spicy' }],
    ['an abort', { name: 'x', model: (ctx) => ctx.abort('left') }, { status: 'aborted', reason: 'left' }],
    [
      'a failure',
      {
        name: 'x',
        model() {
          throw new RangeError('with Grünau')
        },
      },
      { status: 'failed', error: 'RangeError' },
    ],
  ])('writes down %s, of the call and of the turn', async (_, layer, expected) => {
    const { session, records, lines } = audited({}, { layers: [layer] })
    await session.run('go').settled()
    expect(records().slice(2)).toMatchObject([
      { type: 'model:end', ...expected },
      { type: 'turn:end', ...expected },
    ])
    expect(leaks(lines, 'Grünau')).toEqual([])
  })

  it('writes each thing once over a suspension, with what the human decided, in another process too', async () => {
    const { session, lines, records, types } = audited({}, { requireApproval: true })
    await session.run('go')
    const saved = JSON.parse(JSON.stringify(session.snapshot()))
    const next = audited(
      { sink: { append: (line: string) => void lines.push(line), last: () => lines.at(-1) } },
      { requireApproval: true, steps: ['Paid.'] },
    )
    await next.session.open()
    next.session.restore(saved)
    await decide(next.session, { approve: true })
    expect(types()).toEqual([
      ...['turn:start', 'model:start', 'model:end', 'tool:start', 'tool:end', 'turn:end'],
      ...['turn:resume', 'tool:start', 'tool:end', 'model:start', 'model:end', 'turn:end'],
    ])
    expect(records()[4]).toMatchObject({ status: 'suspended' })
    expect(records()[7]).toMatchObject({ approval: 'approved', root: records()[0]?.turn })
    expect(await verify(lines)).toMatchObject({ ok: true, records: 12 })
  })

  it('writes nothing twice where a run is replayed from its journal', async () => {
    const lines: string[] = []
    const process = (journal: ReturnType<typeof memoryJournal>, steps: ScriptedStep[]) =>
      scene(steps, [audit({ sink: (line) => lines.push(line) })], {
        journal,
        ids: () => 'id',
        tools: [tool('pay')],
      }).agent.session({ id: 's' })
    const journal = memoryJournal()
    const killed = journal.killAfter(8)
    void process(journal, [calling(['pay'])]).run('go')
    await killed
    await process(journal.reopen(), ['Paid.']).run('go')
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(everything)
  })

  it('puts what a sub-agent does on the record of its parent', async () => {
    const { agent: child } = scene([calling(['dig']), 'Found.'], [], { name: 'digger', tools: [tool('dig')] })
    const research = tool('research')
    research.execute = async (_: unknown, ctx: never) => (await delegate(ctx, child, 'dig'))?.text
    const lines: string[] = []
    const { agent } = scene([calling(['research']), 'Done.'], [audit({ sink: (line) => lines.push(line) })], {
      tools: [research],
    })
    const { turnId } = await agent.session({ id: 's', principal: { tenant: 'acme' } }).run('go')
    const inner = lines.map((line): Record => JSON.parse(line)).filter((record) => record.agent === 'digger')
    expect(inner.map(({ type }) => type)).toEqual([
      'model:start',
      'model:end',
      'tool:start',
      'tool:end',
      'model:start',
      'model:end',
    ])
    for (const record of inner) expect(record).toMatchObject({ tenant: 'acme', session: 's', root: turnId })
  })

  it('keeps a record on its line, whatever is in it, and gives it back as it was', async () => {
    for (const text of naughty) {
      const { session, lines, records } = audited(
        { content: true },
        { steps: [calling([text, { [text]: text }]), text] },
      )
      await session.run(text)
      for (const line of lines) expect(line).toMatch(/^\{[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]*\}$/u)
      expect(records()[0]).toMatchObject({ input: [{ content: text }] })
      expect(records()[3]).toMatchObject({ tool: text, args: { [text]: text } })
      expect(await verify(`${lines.join('\n')}\n`)).toMatchObject({ ok: true, records: 8 })
    }
  })

  it('writes one chain for all tenants, whose runs go on side by side', async () => {
    const lines: string[] = []
    const layer = audit({ sink: (line) => lines.push(line) })
    const { agent } = scene(
      Array.from({ length: 40 }, () => 'hi'),
      [layer],
    )
    const run = (tenant: string) => agent.session({ principal: { tenant } }).run('go')
    await Promise.all(Array.from({ length: 40 }, (_, i) => run(i % 2 ? 'acme' : 'globex')))
    expect(await verify(lines, { head: layer.head() })).toMatchObject({ ok: true, records: 160 })
    const places = lines.map((line) => `${JSON.parse(line).tenant} ${JSON.parse(line).session}`)
    expect(new Set(places).size).toBe(40)
  })

  it('streams as if it were not there', async () => {
    const events: unknown[] = []
    const { session } = audited({}, { steps: ['a b c'] })
    for await (const event of session.run('go')) if (event.type === 'text-delta') events.push(event.delta)
    expect(events).toEqual(['a', ' b', ' c'])
  })
})

describe('observe.audit whose sink fails', () => {
  const failing = (from: number) => {
    let asked = 0
    return () => {
      if (++asked >= from) throw new Error('disk full')
    }
  }

  it.each([
    [1, 'turn:start', 0],
    [4, 'tool:start', 0],
    [5, 'tool:end', 1],
  ])('blocks the turn from record %i on, so that nothing more happens off the record', async (from, _, ran) => {
    const pay: unknown[] = []
    const { agent, log } = scene([calling(['pay']), 'Paid.'], [audit({ sink: failing(from) })], {
      tools: [tool('pay', (args) => pay.push(args))],
    })
    const { status, reason } = await agent.run('go')
    expect([status, reason, pay.length]).toEqual(['blocked', 'The audit record could not be stored.', ran])
    expect(log.join()).toContain('disk full')
  })

  it('blocks where the sink does not answer in time', async () => {
    const { agent, clock } = scene(['hi'], [audit({ sink: () => new Promise(() => {}), timeout: 50 })])
    expect((await passTime(agent.run('go'), clock)).status).toBe('blocked')
  })

  it('lets an abort end the calls at once, whatever the sink does, and writes it down', async () => {
    const lines: string[] = []
    let release = () => {}
    const sink = async (line: string) => {
      if (lines.length === 2) await new Promise<void>((resolve) => (release = resolve))
      lines.push(line)
    }
    const { agent, layer } = audited({ sink, timeout: 1e9 }, { steps: ['hi'] })
    const left: string[] = []
    agent.use({ name: 'inner', model: (_, next) => next().finally(() => left.push('inner')) })
    const run = agent.run('go')
    while (!left.includes('inner')) await new Promise((resolve) => setTimeout(resolve, 1))
    run.abort('left')
    setTimeout(() => release(), 20)
    await expect(run).rejects.toThrow('left')
    await layer.flush()
    expect(lines.map((line) => JSON.parse(line)).at(-1)).toMatchObject({ type: 'turn:end', status: 'aborted' })
    expect(await verify(lines)).toMatchObject({ ok: true, records: 4 })
  })

  it.each([
    ['throws', failing(1)],
    ['rejects', () => Promise.reject(new Error('disk full'))],
    ['never answers', () => new Promise(() => {})],
  ])('goes on where it %s, if it is told to', async (_, sink) => {
    const { agent } = scene([calling(['pay']), 'Paid.'], [audit({ sink, onError: 'allow' })], { tools: [tool('pay')] })
    expect((await agent.run('go')).text).toBe('Paid.')
  })

  it('tells in the next record how many were lost', async () => {
    const lines: string[] = []
    let asked = 0
    const sink = (line: string) => {
      if (++asked === 2 || asked === 3) throw new Error('disk full')
      lines.push(line)
    }
    const { session, layer } = audited({ sink, onError: 'allow' }, { steps: ['hi'] })
    await session.run('go')
    await layer.flush()
    expect(lines.map((line) => JSON.parse(line)).map(({ type, lost }) => [type, lost])).toEqual([
      ['turn:start', undefined],
      ['turn:end', 2],
    ])
    expect(await verify(lines)).toMatchObject({ ok: true, records: 2 })
  })

  it('goes on with the chain where a slow sink has kept the record after all', async () => {
    const lines: string[] = []
    let release = () => {}
    const sink = async (line: string) => {
      if (lines.length === 1) await new Promise<void>((resolve) => (release = resolve))
      lines.push(line)
    }
    const { session, layer, clock } = audited({ sink, timeout: 50 }, { steps: ['hi', 'hi'] })
    await passTime(session.run('go'), clock)
    release()
    await layer.flush()
    expect((await session.run('again')).status).toBe('completed')
    expect(await verify(lines, { head: layer.head() })).toMatchObject({ ok: true })
    expect(JSON.parse(lines[2] as string)).toMatchObject({ lost: 1 })
  })

  it('waits at dispose() for what is still to be written', async () => {
    const lines: string[] = []
    const slow = async (line: string) => {
      await new Promise((resolve) => setImmediate(resolve))
      lines.push(line)
    }
    const { agent, session } = audited({ sink: slow, onError: 'allow' }, { steps: ['hi'] })
    await session.run('go')
    await agent.dispose()
    expect(lines).toHaveLength(4)
  })
})

describe('observe.verify', () => {
  const chain = async (options: Partial<AuditOptions> = {}) => {
    const { session, lines, layer } = audited(options)
    await session.run('go')
    return { lines, head: layer.head() as NonNullable<ReturnType<typeof layer.head>> }
  }
  const bad = async (lines: string[], options = {}) => (await verify(lines, options)).firstBad

  it('finds no fault in a whole chain, as lines, as a text and as a stream', async () => {
    const { lines, head } = await chain()
    async function* stream() {
      yield* lines
    }
    for (const source of [lines, `${lines.join('\n')}\n`, lines.join('\n'), stream(), { lines: stream }])
      expect(await verify(source, { head })).toEqual({ ok: true, records: 8, head })
    expect(await verify('')).toMatchObject({ ok: true, records: 0 })
  })

  it('names the record that was edited, wherever', async () => {
    const { lines } = await chain()
    for (const [at, line] of lines.entries()) {
      const edited = lines.with?.(at, line.replace('"acme"', '"evil"')) ?? []
      expect(await bad(edited)).toEqual({ line: at + 1, reason: 'edited' })
    }
  })

  it('names the first record that does not follow: one was removed, moved, repeated or put in', async () => {
    const { lines } = await chain()
    const [a, b, c, d] = lines as [string, string, string, string]
    expect(await bad([a, c, d])).toEqual({ line: 2, reason: 'order' })
    expect(await bad([a, c, b, d])).toEqual({ line: 2, reason: 'order' })
    expect(await bad([a, b, b, c])).toEqual({ line: 3, reason: 'order' })
    expect(await bad([b, c])).toEqual({ line: 1, reason: 'order' })
    expect(await bad([a, '', b])).toEqual({ line: 2, reason: 'malformed' })
    expect(await bad([a, '{"forged":true}', b])).toEqual({ line: 2, reason: 'malformed' })
    expect(await bad([a, b.slice(0, 20)])).toEqual({ line: 2, reason: 'malformed' })
  })

  it('finds a cut tail by a head that was kept elsewhere', async () => {
    const { lines, head } = await chain()
    expect(await verify(lines.slice(0, 5))).toMatchObject({ ok: true })
    expect(await verify(lines.slice(0, 5), { head })).toMatchObject({
      ok: false,
      records: 5,
      firstBad: { line: 6, reason: 'missing' },
    })
    expect(await bad([], { head })).toEqual({ line: 1, reason: 'missing' })
  })

  it('finds a chain that was written anew by that head, and by a secret', async () => {
    const { head } = await chain()
    const forged = await chain()
    expect(await verify(forged.lines)).toMatchObject({ ok: true })
    expect(await bad(forged.lines, { head })).toEqual({ line: 8, reason: 'replaced' })
    expect(await bad(forged.lines, { secret: 'k' })).toEqual({ line: 1, reason: 'edited' })
    const sealed = await chain({ secret: 'k' })
    expect(await verify(sealed.lines, { secret: 'k', head: sealed.head })).toMatchObject({ ok: true })
  })

  it('takes an old head, and goes on from the head of the part before', async () => {
    const { lines, head } = await chain()
    const { head: middle } = await verify(lines.slice(0, 3))
    expect(await verify(lines, { head: middle })).toMatchObject({ ok: true, records: 8 })
    expect(await verify(lines.slice(3), { after: middle, head })).toMatchObject({ ok: true, records: 5 })
  })

  it('refuses an empty secret', async () => {
    await expect(verify('', { secret: '' })).rejects.toThrow('empty')
  })
})

describe('observe.auditFile', () => {
  const opened: AuditFile[] = []
  const auditFile = (path: string, options?: AuditFileOptions) => {
    const file = newAuditFile(path, options)
    opened.push(file)
    return file
  }
  const inFolder = async (work: (path: string) => Promise<void>) => {
    const folder = await mkdtemp(join(tmpdir(), 'allium-audit-'))
    try {
      await work(join(folder, 'audit.jsonl'))
    } finally {
      await Promise.all(opened.splice(0).map((file) => file.close()))
      await rm(folder, { recursive: true })
    }
  }

  it('keeps one chain over restarts, readable by its owner alone', () =>
    inFolder(async (path) => {
      for (let process = 0; process < 2; process++) {
        const sink = auditFile(path)
        await audited({ sink }).session.run('go')
        await sink.close()
      }
      expect(await verify(auditFile(path))).toMatchObject({ ok: true, records: 16 })
      expect((await stat(path)).mode & 0o777).toBe(0o600)
    }))

  it('takes the path of a file, to write to and to verify', () =>
    inFolder(async (path) => {
      for (let process = 0; process < 2; process++) {
        const { session, agent } = audited({ sink: path })
        await session.run('go')
        await agent.dispose()
      }
      expect(await verify(path)).toMatchObject({ ok: true, records: 16 })
      await expect(verify(`${path}x`)).rejects.toThrow('ENOENT')
    }))

  it('takes off a record that a crash has cut in two, and goes on behind the last whole one', () =>
    inFolder(async (path) => {
      await audited({ sink: auditFile(path, { fsync: false }) }).session.run('go')
      await writeFile(path, '{"seq":9,"torn":"', { flag: 'a' })
      expect(await verify(auditFile(path))).toMatchObject({ ok: false, firstBad: { line: 9, reason: 'malformed' } })
      await audited({ sink: auditFile(path) }).session.run('go')
      expect(await verify(await readFile(path, 'utf8'))).toMatchObject({ ok: true, records: 16 })
    }))

  it('keeps a record once in a file whose process died before it had noted that it is written', () =>
    inFolder(async (path) => {
      const sink = () => auditFile(path, { fsync: false })
      const steps = [calling(['pay']), 'Paid.']
      await inTwoLives((journal, life) => {
        const { agent } = scene(steps.slice(life), [audit({ sink: sink() })], { tools: [tool('pay')] })
        return agent.session({ id: 's' }).run('go', { turnId: 't', journal })
      }, 'tool:start')
      const lines = (await readFile(path, 'utf8')).trim().split('\n')
      expect(lines.map((line) => JSON.parse(line).type)).toEqual(everything)
      expect(await verify(sink())).toMatchObject({ ok: true, records: 8 })
    }))

  it('gives a record the same key in each life of its run, and another one in each session', async () => {
    const kept = new Map<string, string>()
    const sink = { append: (line: string, key: string) => (kept.has(key) ? 'known' : void kept.set(key, line)) }
    for (const id of ['s', 'other'])
      await inTwoLives((journal) => {
        const { agent } = scene(['Hi.'], [audit({ sink: { ...sink, last: () => [...kept.values()].at(-1) } })])
        return agent.session({ id }).run('go', { turnId: 't', journal })
      }, 'model:end')
    expect([kept.size, new Set([...kept.values()].map((line) => JSON.parse(line).key)).size]).toEqual([8, 8])
    expect(await verify([...kept.values()].join('\n'))).toMatchObject({ ok: true, records: 8 })
  })

  it('finds the last record behind long ones', () =>
    inFolder(async (path) => {
      const long = { content: true, sink: auditFile(path) }
      await audited(long, { steps: ['y'.repeat(200_000)] }).session.run('x'.repeat(200_000))
      await audited({ ...long, sink: auditFile(path) }, { steps: ['hi'] }).session.run('go')
      expect(await verify(auditFile(path))).toMatchObject({ ok: true, records: 8 })
    }))

  it('blocks, and leaves the file alone, where its last line is no record', () =>
    inFolder(async (path) => {
      await writeFile(path, 'something else\n')
      const { status } = await audited({ sink: auditFile(path) }).session.run('go')
      expect([status, await readFile(path, 'utf8')]).toEqual(['blocked', 'something else\n'])
    }))

  it('leaves no half of a record where the disk is full, and syncs unless told otherwise', () =>
    inFolder(async (path) => {
      let full = false
      let synced = 0
      const fs: AuditFs = {
        async open(path, flags, mode) {
          const handle = await open(path, flags, mode)
          const { appendFile, datasync } = handle
          return Object.assign(handle, {
            async appendFile(data: string) {
              await appendFile.call(handle, full ? data.slice(0, 30) : data)
              if (full) throw new Error('ENOSPC')
            },
            datasync() {
              synced++
              return datasync.call(handle)
            },
          })
        },
      }
      const sink = auditFile(path, { fs })
      const { session } = audited({ sink }, { steps: ['hi', 'hi'] })
      await session.run('go')
      full = true
      expect((await session.run('go')).status).toBe('blocked')
      full = false
      await session.run('go').settled()
      expect(await verify(sink)).toMatchObject({ ok: true })
      expect(synced).toBeGreaterThan(4)
    }))

  it('says where there are no files', () => {
    const { getBuiltinModule } = process
    process.getBuiltinModule = undefined as never
    expect(() => newAuditFile('x')).toThrow('This runtime has no file system')
    process.getBuiltinModule = getBuiltinModule
  })
})

/** Runs until a record is written, but not yet noted by the journal, then again in another process. */
async function inTwoLives(run: (journal: Journal, life: 0 | 1) => PromiseLike<unknown>, type: string): Promise<void> {
  const journal = memoryJournal()
  await new Promise<void>((died) => {
    const step: Journal['step'] = (id, work, emit) =>
      journal.step(
        id,
        async (emit) => {
          const given = await work(emit)
          if (!id.includes(`:${type}:`)) return given
          died()
          return new Promise<typeof given>(() => {})
        },
        emit,
      )
    void run({ step }, 0)
  })
  await run(journal.reopen(), 1)
}

/** Moves the clock until the run has ended; hashes are made beside it, in real time. */
async function passTime<T>(run: PromiseLike<T>, clock: ManualClock): Promise<T> {
  let ended = false
  const end = Promise.resolve(run).finally(() => (ended = true))
  while (!ended) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    await clock.advance(10)
  }
  return end
}

it('observe.audit waits for the clock of the agent only', async () => {
  const clock = manualClock()
  const { agent } = scene(['hi'], [audit({ sink() {} })], { clock })
  await agent.run('go')
  expect(clock.pending).toBe(0)
})
