import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { build, failure } from '../../core/test/kit.ts'
import { capability, type LayerOrder, type Middleware } from '../src/index.ts'

const layer = (name: string, order: LayerOrder | string, more: Partial<Middleware> = {}): Middleware => ({
  name,
  order: typeof order === 'string' ? { is: [order] } : order,
  model: (_, next) => next(),
  ...more,
})
const check = (...layers: Middleware[]) => build([], layers).agent.check()

/** Layers that are registered in the order given, of which each may hook other scopes than model. */
const pass = (_: unknown, next: () => Promise<never>) => next()
const inTool: Partial<Middleware> = { model: undefined, tool: pass }
const inTurn: Partial<Middleware> = { model: undefined, turn: pass }
const Db = capability<string>('db')

/** The table of docs/concepts/order.md: what its page says is what is checked. */
const page = readFileSync(new URL('../../../docs/concepts/order.md', import.meta.url), 'utf8')
const rows = [...page.matchAll(/^\| (\d+) \| (.+?) \| (.+?) \| `(\w+)` → `(\w+)` \| (\w+) \|$/gm)].map(
  ([, number, wrong, reason, outer, inner, severity]) => ({ number, wrong, reason, outer, inner, severity }) as Row,
)
interface Row {
  number: string
  /** As the page writes it, outer first. */
  wrong: string
  reason: string
  /** The right order. */
  outer: string
  inner: string
  severity: 'error' | 'warn'
}

/** The layers of a row in their wrong order: the one that belongs inside comes first. */
function wrongly({ wrong, outer, inner }: Row): [Middleware, Middleware] {
  if (inner === 'uses') return [layer('in', {}, { requires: [Db] }), layer('out', {}, { provides: [Db] })]
  const [first, second] = wrong.endsWith('(tool)')
    ? [inTool, inTool]
    : wrong.includes('(turn)')
      ? [inTurn, {}]
      : [{}, {}]
  const innermost = wrong.endsWith('(innermost)')
  return [layer('in', inner, first), layer('out', outer, { ...second, innermost })]
}

describe('each wrong order of the docs', () => {
  it('is one of at least twelve, and none is missing: no other pair of categories is found', () => {
    expect(rows.map(({ number }) => Number(number))).toEqual(rows.map((_, i) => i + 1))
    expect(rows.length).toBeGreaterThanOrEqual(12)
    const words = [...new Set(rows.flatMap(({ outer, inner }) => [outer, inner]))].filter(
      (word) => !/uses|provides/.test(word),
    )
    const both: Partial<Middleware> = { tool: pass }
    const found = words.flatMap((a) =>
      words.filter((b) => check(layer('in', b, both), layer('out', a, both)).length > 0).map((b) => `${a} → ${b}`),
    )
    const told = rows.map(({ outer, inner }) => `${outer} → ${inner}`).filter((row) => row !== 'provides → uses')
    expect(found.sort()).toEqual([...new Set(told)].sort())
  })

  it.each(rows)('$number: $wrong is found, with its reason and the right order', (row) => {
    const [finding, ...more] = check(...wrongly(row))
    expect(more).toEqual([])
    expect(finding).toMatchObject({ severity: row.severity, layers: ['out', 'in'] })
    expect(finding?.message).toContain(row.reason)
    const words = [...row.wrong.matchAll(/`(\w+)`/g)].map(([, word]) => word)
    expect(words).toEqual([row.inner, row.outer])
  })

  it.each(rows)('$number: $outer outside $inner is sound', (row) => {
    const [inner, outer] = wrongly(row)
    if (row.wrong.includes('(turn)')) outer.turn = pass
    expect(check({ ...outer, innermost: false }, inner)).toEqual([])
  })

  it('tells how to mend it: by registration, by innermost, or by another scope', () => {
    const mend = (wrong: string) => check(...wrongly(rows.find((row) => row.wrong.includes(wrong)) as Row))[0]?.message
    expect(mend('`meters` → `retries`')).toBe(
      '"in" is outside "out". Register "out" first, then "in", or repeated attempts go uncounted.',
    )
    expect(mend('(innermost)')).toBe(
      '"in" is outside "out". "out" is innermost: declare "in" innermost too, behind it, or repeated attempts go uncounted.',
    )
    expect(mend('(turn)')).toBe(
      '"in" is outside "out". It hooks turn, which holds model: let "out" hook turn too. Register "out" first, then "in", or the cache keeps raw text.',
    )
  })
})

describe('the order check', () => {
  it('asks authorizers and caches in tool scope alone', () => {
    expect(check(layer('cache', 'caches'), layer('policy', 'authorizes'))).toEqual([])
    expect(check(layer('cache', 'caches'), layer('policy', 'authorizes', inTool))).toEqual([])
  })

  it('says nothing of layers of model and tool, which stand side by side', () => {
    expect(check(layer('meter', 'meters', inTool), layer('retry', 'retries'))).toEqual([])
    expect(check(layer('retry', 'retries'), layer('meter', 'meters', inTool))).toEqual([])
  })

  it('counts the hooks that calls pass, not those that open an agent or a session', () => {
    const opening: Partial<Middleware> = { agent: pass, session: pass }
    expect(check(layer('cache', 'caches', opening), layer('redact', 'redacts', { ...opening, ...inTurn }))).toEqual([])
    const a = layer('a', { inside: ['b'] }, { ...opening, model: undefined })
    const b = layer('b', {}, { ...opening, model: undefined })
    expect(check(a, b)).toMatchObject([{ layers: ['b', 'a'] }])
    expect(check(b, a)).toEqual([])
  })

  it('counts innermost as inside all others in model and tool, and two of them by their registration', () => {
    const meter = layer('meter', 'meters', { innermost: true, turn: pass, tool: pass })
    expect(check(meter, layer('retry', 'retries', { tool: pass }))).toEqual([])
    const retry = layer('retry', 'retries', { innermost: true })
    expect(check(meter, retry)[0]?.message).toContain('Register "retry" first, then "meter"')
    expect(check(retry, meter)).toEqual([])
  })

  it('counts an innermost layer by its registration in turn scope, where innermost moves nothing', () => {
    const log = layer('log', 'observes', { innermost: true, turn: pass })
    const redact = layer('redact', 'redacts', { turn: pass })
    expect(check(log, redact).map(({ message }) => message)).toEqual([
      '"log" is outside "redact". Register "redact" first, then "log", or raw text is logged.',
    ])
    expect(check(redact, log)).toEqual([])
    expect(check(log, layer('redact', 'redacts'))).toEqual([])
    const asks = layer('asks', { inside: ['redact'] }, { innermost: true, turn: pass })
    expect(check(asks, redact)).toMatchObject([{ layers: ['redact', 'asks'] }])
  })

  it('asks nothing of hooks in scopes that a layer says its place is not about', () => {
    const cache = layer('cache', 'caches', inTool)
    expect(check(layer('meter', 'meters', { turn: pass }), cache)).toHaveLength(1)
    const meter = layer('meter', { is: ['meters'], scopes: ['model'] }, { turn: pass, innermost: true })
    expect([check(meter, cache), check(cache, meter)]).toEqual([[], []])
  })

  it('finds what is wrong in one scope alone, whichever', () => {
    const redact = layer('redact', 'redacts', { innermost: true, turn: pass })
    const log = layer('log', 'observes', { turn: pass })
    expect(check(redact, log)[0]?.message).toContain('"redact" is innermost: declare')
    const cache = layer('cache', 'caches', { ...inTurn, tool: pass })
    const policy = layer('policy', 'authorizes', { ...inTurn, tool: pass, innermost: true })
    expect(check(policy, cache)[0]?.message).toContain('"policy" is innermost')
    expect(check(cache, { ...policy, tool: undefined as never })).toEqual([])
  })

  it('looks at the pairs that a rule speaks of alone', () => {
    let reads = 0
    const counted = (name: string, is: string) =>
      layer(name, {
        get is() {
          reads++
          return [is]
        },
      })
    const some = (n: number) => Array.from({ length: n }, (_, i) => counted(`m${i}`, i === 0 ? 'retries' : 'meters'))
    const readsFor = (n: number) => {
      reads = 0
      expect(check(...some(n))).toEqual([])
      return reads
    }
    expect(readsFor(1000)).toBeLessThan(readsFor(250) * 5)
  })

  it('follows names and categories at once, whichever of the two says so', () => {
    const asks = layer('asks', { inside: ['tenants', 'meters'], outside: ['caches'] })
    const findings = check(layer('cache', 'caches'), asks, layer('tenants', {}), layer('meter', 'meters'))
    const told = findings.filter(({ message }) => message.includes('asks to be')).map(({ layers }) => layers)
    expect(told).toEqual([
      ['asks', 'cache'],
      ['tenants', 'asks'],
      ['meter', 'asks'],
    ])
  })

  it('takes a layer that requires what it provides itself for one that needs another', () => {
    const wraps = layer('wraps', {}, { provides: [Db], requires: [Db] })
    expect(check(wraps)).toMatchObject([
      { layers: ['wraps'], message: expect.stringContaining('which no layer provides') },
    ])
    expect(check(layer('base', {}, { provides: [Db] }), wraps)).toEqual([])
  })

  it('follows inside and outside, by name and by category', () => {
    expect(check(layer('a', { inside: ['b'] }), layer('b', {}))).toMatchObject([{ layers: ['b', 'a'] }])
    expect(check(layer('a', 'x'), layer('b', { outside: ['x'] }))).toMatchObject([{ layers: ['b', 'a'] }])
    expect(check(layer('b', {}), layer('a', { inside: ['b', 'nobody'] }))).toEqual([])
  })

  it('lets init() throw on errors, warn on warnings, and obeys orderCheck', async () => {
    const wrong = [layer('meter', 'meters'), layer('retry', 'retries')]
    const error = await failure(build([], wrong).agent.init())
    expect(error).toMatchObject({ code: 'layer.order', details: { findings: [{ layers: ['retry', 'meter'] }] } })
    const warned = build([], wrong, { orderCheck: 'warn' })
    await warned.agent.init()
    expect(warned.log).toHaveLength(1)
    const off = build([], wrong, { orderCheck: 'off' })
    await off.agent.init()
    expect(off.log).toEqual([])
    const soft = build([], [layer('cache', 'caches'), layer('limit', 'limits')])
    await soft.agent.init()
    expect(soft.log).toHaveLength(1)
  })
})

describe('inspect', () => {
  it('gives the onion as data: layers, scopes, order', () => {
    const { agent } = build(
      [],
      [
        { name: 'meter', innermost: true, state: { 'meter:n': { default: 0 } }, model: (_, next) => next() },
        {
          name: 'retry',
          reenters: true,
          order: { is: ['retries'] },
          options: { attempts: 3 },
          model: (_, next) => next(),
          turn: (_, next) => next(),
        },
      ],
      { name: 'inspected' },
    )
    expect(agent.inspect()).toMatchObject({
      agent: 'inspected',
      layers: [
        { name: 'meter', scopes: ['model'], innermost: true, reenters: false, state: ['meter:n'] },
        {
          name: 'retry',
          scopes: ['turn', 'model'],
          reenters: true,
          order: { is: ['retries'] },
          options: { attempts: 3 },
        },
      ],
      scopes: { agent: [], session: [], turn: ['retry'], model: ['retry', 'meter'], tool: [] },
    })
    expect(JSON.parse(JSON.stringify(agent.inspect()))).toEqual(agent.inspect())
  })
})
