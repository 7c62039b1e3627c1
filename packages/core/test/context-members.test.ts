import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../testing/src/index.ts'
import * as functions from '../src/context.ts'
import { capability, type Middleware, type ScopeName } from '../src/index.ts'
import { contextTypes, type Member } from './context-types.ts'
import { oneCall, scopes, tool, turn } from './kit.ts'

// The types promise only what works: every member of each context is used in a hook of its scope. The lists come from the
// types, so a new member without a row below fails.

const Db = capability<string>('db')
const nothing = () => {}

/** Valid arguments of the members and functions that need some. */
const args: Record<string, readonly unknown[]> = {
  on: ['turn:end', nothing],
  registerTool: [tool('more')],
  provide: [Db, 'db'],
  find: [Db],
  inject: [Db],
  emit: [{ type: 'test:event' }],
  restore: [{ history: [], state: {} }],
  aroundRun: [(_: unknown, next: () => unknown) => next()],
  aroundStep: [(_: unknown, next: () => unknown) => next()],
  provideTurns: [nothing],
  block: ['enough'],
  defer: [Promise.resolve()],
  onEnd: [nothing],
  onInput: [nothing],
  onDisplay: [() => ({ push: (text: string) => text, end: () => '' })],
  once: ['key', () => 1],
  record: ['topic', { n: 1 }],
  resolveModel: [scriptedModel([])],
  setMaxSteps: [3],
  onChunk: [nothing],
  pipe: [(chunks: unknown) => chunks],
  setModel: [scriptedModel(['done'])],
  addSystemMessage: ['Be brief.'],
  addMessage: [{ role: 'user', content: 'And?' }],
  skipCall: ['done'],
  modifyArgs: [{ n: 1 }],
  deny: ['no'],
  seal: [{ n: 1 }],
}
/** What a layer may set fields to, if not to what they are. */
const values: Record<string, unknown> = { output: 'done' }
/** The verbs that end the run by throwing. */
const ends: Record<string, string> = { abort: 'AbortError', block: 'BlockError' }

type Context = Record<string, unknown>
type Act = (ctx: Context) => unknown

/** Runs a turn in which a hook of the scope acts. Returns everything that went wrong. */
async function faultsOf(scope: ScopeName, act: Act): Promise<string[]> {
  const faults: string[] = []
  let hasRun = false
  const stores: Middleware = {
    name: 'stores',
    order: { is: ['sessionStorage'] },
    agent(ctx, next) {
      ctx.provide(Db, 'db')
      return next()
    },
    session(ctx, next) {
      functions.aroundRun(ctx, (_, next) => next())
      return next()
    },
  }
  const acts = async (ctx: Context, next: () => Promise<unknown>) => {
    hasRun = true
    try {
      await act(ctx)
    } catch (error) {
      const { name, message } = error as Error
      faults.push(name === 'AlliumError' ? message : name)
    }
    return next()
  }
  const logger = { warn: (text: string) => void faults.push(text), error: (text: string) => void faults.push(text) }
  const { agent } = await turn(oneCall, [stores, { name: 'acts', [scope]: acts }], { tools: [tool('work')], logger })
  await agent.dispose()
  return hasRun ? [...new Set(faults)] : ['The hook did not run.']
}

function actsOf(
  { name, isFunction, isWritable, needsArguments }: Member,
  fn?: (...given: unknown[]) => unknown,
): Act[] {
  if (!isFunction) {
    const read: Act = (ctx) => ctx[name]
    return isWritable ? [read, (ctx) => (ctx[name] = values[name] ?? ctx[name])] : [read]
  }
  if (needsArguments && args[name] === undefined) throw new Error(`Add valid arguments of "${name}" to the table.`)
  const given = args[name] ?? []
  return [(ctx) => (fn === undefined ? (ctx[name] as (...given: unknown[]) => unknown)(...given) : fn(ctx, ...given))]
}

const types = contextTypes()
const byName = new Map<string, unknown>(Object.entries(functions))

describe.each(scopes)('in a %s hook', (scope) => {
  it.each(types[scope].members)('the member $name works', async (member) => {
    for (const act of actsOf(member))
      expect(await faultsOf(scope, act)).toEqual(ends[member.name] === undefined ? [] : [ends[member.name]])
  })

  it.each(types[scope].functions)('the function $name() works', async (member) => {
    const fn = byName.get(member.name) as (...given: unknown[]) => unknown
    for (const act of actsOf(member, fn)) expect(await faultsOf(scope, act)).toEqual([])
  })
})

it('every row of arguments belongs to a member or a function', () => {
  const known = scopes.flatMap((scope) => [...types[scope].members, ...types[scope].functions])
  expect(Object.keys(args).filter((name) => !known.some((member) => member.name === name))).toEqual([])
})
