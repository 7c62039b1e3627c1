import { type Document, isMap, isNode, isPair, isScalar, LineCounter, type Node, parseDocument, visit } from 'yaml'
import type { Env } from '../shell/environment.ts'
import { interpolate, toScalar } from './interpolate.ts'
import { isHookEntry, mistake, type Path, type Source } from './source.ts'

/** Reads YAML, and JSON, which is YAML; with an environment, fills in its variables. @throws AlliumError `config.invalid`, `config.env` */
export function readYaml(text: string, file: string, env: Env | undefined): Pick<Source, 'data' | 'at'> {
  const lines = new LineCounter()
  const doc = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const position = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const problem = doc.errors[0] ?? doc.warnings[0]
  if (problem !== undefined) {
    const at = () => position(problem.pos[0])
    throw mistake({ file, at }, 'config.invalid', [], `cannot be read: ${problem.message}`)
  }
  const at: Source['at'] = (path, key) => {
    const offset = nodeAt(doc, path, key)?.range?.[0]
    return offset === undefined ? { line: 1, column: 1 } : position(offset)
  }
  if (env !== undefined) fillIn(doc, env, (path, what) => mistake({ file, at }, 'config.env', path, what))
  return { data: doc.toJS(), at }
}

function fillIn(doc: Document, env: Env, fail: (path: Path, what: string) => Error): void {
  visit(doc, {
    Scalar(key, node, ancestors) {
      if (key === 'key' || typeof node.value !== 'string' || !node.value.includes('${')) return
      const path = pathOf(ancestors, key)
      if (isHookEntry(path)) return
      const text = interpolate(node.value, env, (what) => fail(path, what))
      node.value = node.type === 'PLAIN' ? toScalar(text) : text
    },
  })
}

/** The keys that lead to a node; `visit` gives its place in the innermost collection, and the collections. */
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

/** The node at a path, else the nearest one around it; with `key`, that key itself. */
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
