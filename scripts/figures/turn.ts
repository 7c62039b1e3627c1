import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import type { ModelChunk, ModelRequest } from '../../packages/core/src/index.ts'
import type { InterfaceCalls } from './interface-calls.ts'
import type { Source } from './sources.ts'

/** What one turn does in core: model, tool, model, in a session that has run before, without layers. */
export interface TurnCost {
  readonly calls: number
  /** Calls of a function in another folder. */
  readonly crossings: number
  /** Calls of a function in a folder above, without those through an interface that the caller's floor or one below declares. */
  readonly upward: number
}

interface Place {
  readonly folder: string
  /** Undefined for a function that has no name of its own. */
  readonly name: string | undefined
  readonly through: InterfaceCalls
}

type ThroughInterfaces = (path: string, position: number) => InterfaceCalls

type Insert = [at: number, text: string, closes?: 'closes']

/** Counts the calls of functions as the program runs. The copies of the sources call it. */
class Counter {
  counting = false
  calls = 0
  crossings = 0
  upward = 0
  current = -1
  readonly #places: readonly Place[]
  readonly #floors: readonly string[]

  constructor(places: readonly Place[], floors: readonly string[]) {
    this.#places = places
    this.#floors = floors
  }

  enter(id: number): number {
    const caller = this.current
    this.current = id
    if (!this.counting) return caller
    this.calls++
    const [from, to] = [this.#places[caller], this.#places[id] as Place]
    if (from === undefined || from.folder === to.folder) return caller
    this.crossings++
    // A function that the caller cannot have called, because it calls no function value, was called by the microtask queue.
    const isKnown = to.name === undefined ? !from.through.functionsAbove : from.through.members.has(to.name)
    if (!isKnown && this.#floors.indexOf(to.folder) > this.#floors.indexOf(from.folder)) this.upward++
    return caller
  }
  leave(caller: number): void {
    this.current = caller
  }
  back<T>(id: number, value: T): T {
    this.current = id
    return value
  }
}

/** Runs a turn in a copy of the sources in `out` that counts its calls. @param floors the folders, from the ground up */
export async function turnCost(
  sources: readonly Source[],
  { floors, out, through }: { floors: readonly string[]; out: string; through: ThroughInterfaces },
): Promise<TurnCost> {
  const places: Place[] = []
  rmSync(out, { recursive: true, force: true })
  for (const source of sources) {
    const file = join(out, source.path.replace(/ts$/, 'js'))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, counted(source, places, through))
  }
  writeFileSync(join(out, 'package.json'), '{ "type": "module" }')
  const counter = new Counter(places, floors)
  Object.assign(globalThis, { __house: counter })
  const { Agent } = (await import(
    pathToFileURL(join(out, 'index.js')).href
  )) as typeof import('../../packages/core/src/index.ts')
  const session = new Agent({ model: model(counter), tools: [tool(counter)] }).session({ id: 's' })
  await session.run('Hi')
  counter.current = -1
  counter.counting = true
  const { text } = await session.run('Hi again')
  counter.counting = false
  if (text !== 'Hello') throw new Error(`The measured turn answered ${JSON.stringify(text)}.`)
  const { calls, crossings, upward } = counter
  return { calls, crossings, upward }
}

function model(counter: Counter) {
  const finish = (reason: 'stop' | 'tool-calls') =>
    ({ type: 'finish', reason, usage: { inputTokens: 1, outputTokens: 1 } }) as const
  return {
    id: 'house/model',
    async *stream({ messages }: ModelRequest): AsyncGenerator<ModelChunk> {
      counter.current = -1
      const callId = `c${messages.length}`
      if (messages.at(-1)?.role === 'user') {
        yield { type: 'tool-input-start', callId, name: 'look' }
        yield { type: 'tool-input-delta', callId, delta: '{}' }
        yield { type: 'tool-input-end', callId }
        return yield finish('tool-calls')
      }
      yield { type: 'text-delta', delta: 'He' }
      yield { type: 'text-delta', delta: 'llo' }
      yield finish('stop')
    },
  }
}

function tool(counter: Counter) {
  const jsonSchema = { type: 'object', properties: {} }
  return { name: 'look', description: 'Looks.', jsonSchema, execute: () => counter.back(-1, 'ok') }
}

/** The JavaScript of a file, in which each function tells that it was entered. */
function counted({ path, tree }: Source, places: Place[], through: ThroughInterfaces): string {
  const inserts: Insert[] = []
  const visit = (node: ts.Node, owner: number | undefined) => {
    let inner = owner
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const place = { folder: dirname(path), name: nameOf(node), through: through(path, node.pos) }
      const id = places.push(place) - 1
      inner = isResumable(node) ? id : undefined
      inserts.push(...around(node, node.body as ts.Node, id, tree))
    }
    if (owner !== undefined && ts.isAwaitExpression(node)) {
      inserts.push([node.getStart(tree), `__house.back(${owner}, `], [node.end, ')', 'closes'])
    }
    ts.forEachChild(node, (child) => visit(child, inner))
  }
  visit(tree, undefined)
  const { outputText } = ts.transpileModule(inserted(tree.text, inserts), {
    fileName: path,
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  })
  return outputText.replaceAll(/from '(\.[^']+)\.ts'/g, "from '$1.js'")
}

function nameOf(node: ts.SignatureDeclaration): string | undefined {
  const { name = ts.isPropertyAssignment(node.parent) ? node.parent.name : undefined } = node
  return name !== undefined && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)) ? name.text : undefined
}

/** At one place, what closes stands before what opens, and an inner one closes first. */
function inserted(text: string, inserts: readonly Insert[]): string {
  const ranked = inserts.map(([at, insert, closes], i) => ({ at, insert, rank: closes === 'closes' ? -i : i }))
  ranked.sort((a, b) => a.at - b.at || a.rank - b.rank)
  let result = ''
  let done = 0
  for (const { at, insert } of ranked) {
    result += text.slice(done, at) + insert
    done = at
  }
  return result + text.slice(done)
}

/** A function that suspends has left its caller long before it ends, so only its start is told. */
function isResumable(node: ts.SignatureDeclaration): boolean {
  const isAsync =
    ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword)
  return isAsync || ('asteriskToken' in node && node.asteriskToken !== undefined)
}

function around(node: ts.SignatureDeclaration, body: ts.Node, id: number, tree: ts.SourceFile): Insert[] {
  const start = body.getStart(tree)
  if (!ts.isBlock(body)) {
    if (isResumable(node))
      return [
        [start, `(__house.enter(${id}), `],
        [body.end, ')', 'closes'],
      ]
    return [
      [start, `{ const __caller = __house.enter(${id}); try { return (`],
      [body.end, ') } finally { __house.leave(__caller) } }', 'closes'],
    ]
  }
  if (isResumable(node)) return [[start + 1, ` __house.enter(${id});`]]
  const isEmpty = body.statements.length === 0
  if (ts.isConstructorDeclaration(node) || isEmpty) return [[start + 1, ` __house.leave(__house.enter(${id}));`]]
  return [
    [start + 1, ` const __caller = __house.enter(${id}); try {`],
    [body.end - 1, '} finally { __house.leave(__caller) }', 'closes'],
  ]
}
