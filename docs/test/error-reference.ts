import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messagesByCode } from './error-messages.ts'
import { root } from './pages.ts'

const head = `# Error messages

Search this page for a message that you see: it lists the messages of each code, with \`…\` in place of names and values. [Error codes](../concepts/errors.md) is the short list. The page is made from the sources.
`

interface ErrorEntry {
  readonly code: string
  readonly cause: string
  readonly fix: string
  readonly messages: readonly string[]
}

/** Each code with its cause and its fix from the concepts page, and its messages from the sources. */
export function errorEntries(): ErrorEntry[] {
  const page = readFileSync(join(root, 'docs/concepts/errors.md'), 'utf8')
  const rows = [...page.matchAll(/^\| `([a-z_]+\.[a-z_]+)` \| (.*) \| (.*) \|$/gm)]
  const messages = messagesByCode()
  return rows.map(([, code = '', cause = '', fix = '']) => ({ code, cause, fix, messages: messages.get(code) ?? [] }))
}

/** The page of all messages. Its links are those of a page in docs/reference. */
export function errorReference(): string {
  const sections = errorEntries().map(({ code, cause, fix, messages }) => {
    const prose = `**Cause:** ${relink(cause)}\n\n**Fix:** ${relink(fix)}`
    return `## ${code}\n\n${prose}\n\n\`\`\`text\n${messages.join('\n')}\n\`\`\`\n`
  })
  return [head, ...sections].join('\n')
}

function relink(text: string): string {
  return text
    .replaceAll(/\]\((?!\.\.|http|#)([^)]+)\)/g, '](../concepts/$1)')
    .replaceAll('](#', '](../concepts/errors.md#')
}
