import { join } from 'node:path'
import { root } from './pages.ts'
import { membersOf, nameOfType, programOf, section, typeNamed } from './type-tables.ts'

/** Where each type is declared, with what its section is called. */
const types = [
  ['agent/options.ts', 'AgentOptions', '`new Agent(options)`'],
  ['agent/scope/agent-scope.ts', 'ApprovalOptions', '`approvals` of an agent'],
  ['session/options.ts', 'SessionOptions', '`agent.session(options)`'],
  ['session/options.ts', 'RunOptions', '`session.run(input, options)`, `agent.run(input, options)`'],
  ['model/model.ts', 'Settings', '`settings`, of an agent, a run or a call'],
  ['tool/tool.ts', 'Tool', 'A tool'],
] as const

/** The page of all options of core, and of the parts of a message, as the types say it. */
export function optionReference(): string {
  const source = (file: string) => join('packages/core/src', file)
  const program = programOf([join(root, source('index.ts')), ...types.map(([file]) => join(root, source(file)))])
  const checker = program.getTypeChecker()
  const named = (file: string, name: string) => typeNamed(program, checker, source(file), name)
  const parts = membersOf(checker, named('messages/message.ts', 'Part'))
  return [
    head,
    ...types.map(([file, type, name]) =>
      section(checker, { name, doc: '', type: named(file, type), defaults: true }).replace('###', '##'),
    ),
    section(checker, { name: 'A message', doc: partsDoc, type: named('messages/message.ts', 'Message') }).replace(
      '###',
      '##',
    ),
    ...parts.map((type) => section(checker, { name: nameOfType(checker, type), doc: '', type })),
    example,
  ]
    .join('\n')
    .trimEnd()
    .concat('\n')
}

const head = `# Options and messages

All options of an agent, a session, a run and a tool, made from the types; those of each layer stand on the page of its pack. \`?\` marks what may be
absent. An option that is not known is refused, with the nearest name.
`

const partsDoc = 'Its content is a text, or a list of parts, of these types.'

const example = `## A picture in a message

\`\`\`ts
import { Agent } from 'allium'
import { scriptedModel } from 'allium/testing'

const picture = Uint8Array.of(0x89, 0x50, 0x4e, 0x47)
const agent = new Agent({ model: scriptedModel(['A cat.']) })
const { text } = await agent.run([
  {
    role: 'user',
    content: [
      { type: 'text', text: 'What is this?' },
      { type: 'image', data: picture, mediaType: 'image/png' },
    ],
  },
])
console.log(text)
\`\`\`

\`\`\`text output
A cat.
\`\`\`
`
