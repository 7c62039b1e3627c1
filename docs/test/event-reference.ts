import { join } from 'node:path'
import type ts from 'typescript'
import { root } from './pages.ts'
import { docOf, membersOf, nameOfType, programOf, section, typeNamed } from './type-tables.ts'

/** The files that declare events, or import those that do. */
const sources = [
  'packages/allium/src/index.ts',
  ...['guard', 'memory', 'model', 'observe', 'otel', 'tools', 'group', 'search'].map(
    (pack) => `packages/allium/src/${pack}.ts`,
  ),
  'packages/core/src/index.ts',
]

/** The page of all events and their payloads, as the types say it. */
export function eventReference(): string {
  const program = programOf(sources.map((path) => join(root, path)))
  const checker = program.getTypeChecker()
  const events = eventsOf(program, checker)
  const chunks = membersOf(checker, typeNamed(program, checker, 'packages/core/src/model/chunk.ts', 'ContentChunk'))
  const told = (some: readonly EventType[]) => some.map(({ name, doc, type }) => section(checker, { name, doc, type }))
  const finish = typeNamed(program, checker, 'packages/core/src/model/chunk.ts', 'FinishChunk')
  return [
    head,
    '## Of the core\n',
    ...told(events.filter(({ ofCore }) => ofCore)),
    '## Of the packs and combinators\n',
    ...told(events.filter(({ ofCore }) => !ofCore)),
    "## Chunks\n\nA run's reader gets them flat, and observers as `chunk` of `model:chunk`.\n",
    ...[...chunks, finish].map((type) => section(checker, { name: nameOfType(checker, type), doc: '', type })),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n')
}

const head = `# Events and their payloads

Each event with its fields, made from the types; [Events](../concepts/events.md) says when each one comes, and who hears it. \`?\` marks what may be absent. \`path\`
names the sub-agents that lead to where it happened.
`

interface EventType {
  name: string
  doc: string
  type: ts.Type
  ofCore: boolean
}

function eventsOf(program: ts.Program, checker: ts.TypeChecker): EventType[] {
  const all = typeNamed(program, checker, 'packages/core/src/index.ts', 'AgentEvents')
  return checker.getPropertiesOfType(all).map((property) => {
    const type = checker.getTypeOfSymbol(property)
    const own = type.getSymbol() ?? type.aliasSymbol
    const file = property.declarations?.[0]?.getSourceFile().fileName ?? ''
    return {
      ofCore: file.includes('/packages/core/'),
      name: property.name,
      doc: docOf(checker, property) || (own === undefined ? '' : docOf(checker, own)),
      type,
    }
  })
}
