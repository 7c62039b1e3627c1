import { messageOf } from '@allium/core'
import { type Document, isMap, isNode, isPair, isScalar, LineCounter, type Node, parseDocument, visit } from 'yaml'
import type { Env } from '../shell/environment.ts'
import type { FilledValues } from './filled-values.ts'
import { filledText, toScalar } from './interpolate.ts'
import { checkDepth, deepest } from './plain-data.ts'
import { isHookEntry, mistake, type Path, type Source } from './source.ts'
import { findTooDeep } from './yaml-depth.ts'

/** Parses YAML, which includes JSON; with an environment, replaces variables. @throws AlliumError `config.invalid`, `config.env` */
export function readYaml(
  text: string,
  { file, filled }: NodePosition,
  env: Env | undefined,
): Pick<Source, 'data' | 'at'> {
  const lines = new LineCounter()
  const position = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const fail = (offset: number, problem: string) =>
    mistake({ file, at: () => position(offset) }, 'config.invalid', [], problem)
  const deep = findTooDeep(text, deepest)
  if (deep !== undefined) {
    for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1)
    lines.lineStarts.unshift(0)
    throw fail(deep, `is nested too deeply. A config has up to ${deepest} levels.`)
  }
  const doc = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const parseError = doc.errors[0] ?? doc.warnings[0]
  if (parseError !== undefined) throw fail(parseError.pos[0], `cannot be read: ${parseError.message}`)
  const at: Source['at'] = (path, key) => {
    const offset = nodeAt(doc, path, key)?.range?.[0]
    return offset === undefined ? { line: 1, column: 1 } : position(offset)
  }
  if (env !== undefined) fillIn(doc, env, filled, (path, problem) => mistake({ file, at }, 'config.env', path, problem))
  let data: unknown
  try {
    data = doc.toJS()
  } catch (cause) {
    throw fail(aliasIn(doc), `cannot be read: ${messageOf(cause)}`)
  }
  checkDepth({ file, at }, data)
  return { data, at }
}

interface NodePosition {
  readonly file: string
  readonly filled: FilledValues
}

/** Returns the offset of the first unresolved alias, or of the first alias. */
function aliasIn(doc: Document): number {
  let first: number | undefined
  let unresolved: number | undefined
  visit(doc, {
    Alias(_key, alias) {
      first ??= alias.range?.[0]
      if (alias.resolve(doc) === undefined) unresolved ??= alias.range?.[0]
    },
  })
  return unresolved ?? first ?? 0
}

function fillIn(doc: Document, env: Env, filled: FilledValues, fail: (path: Path, problem: string) => Error): void {
  visit(doc, {
    Scalar(key, node, ancestors) {
      if (key === 'key' || typeof node.value !== 'string' || !node.value.includes('${')) return
      const path = pathOf(ancestors, key)
      if (isHookEntry(path)) return
      const text = filledText(node.value, env, path, filled, (problem) => fail(path, problem))
      node.value = node.type === 'PLAIN' ? toScalar(text) : text
    },
  })
}

/** Returns the path of a node; `visit` gives its position in the innermost collection, and the collections around it. */
function pathOf(ancestors: readonly unknown[], last: number | 'key' | 'value' | null): Path {
  const path: (string | number)[] = []
  ancestors.forEach((node, i) => {
    if (isPair(node)) path.push(String(isScalar(node.key) ? node.key.value : node.key))
    else if (isNode(node) && 'items' in node && !isMap(node)) {
      const inner = ancestors[i + 1]
      const index = inner === undefined ? last : (node.items as unknown[]).indexOf(inner)
      if (typeof index === 'number') path.push(index)
    }
  })
  return path
}

/** Returns the node at a path, or else the nearest one around it; with `key`, the node of that key. */
function nodeAt(doc: Document, path: Path, key: string | undefined): Node | undefined {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? doc.contents : doc.getIn(path.slice(0, length), true)
    if (!isNode(node)) continue
    if (key === undefined || length < path.length || !isMap(node)) return node
    const pair = node.items.find((item) => isScalar(item.key) && item.key.value === key)
    return isNode(pair?.key) ? pair.key : node
  }
  return undefined
}
