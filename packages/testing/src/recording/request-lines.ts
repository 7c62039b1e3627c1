import type { Message, Part } from '@allium/core'
import type { CassetteRequest } from './cassette-data.ts'

/** Formats a request as lines to read and compare. */
export function requestLines(request: CassetteRequest): string[] {
  const { messages, tools, toolChoice, settings, responseFormat } = request
  return [
    ...messages.flatMap(messageLines),
    ...tools.map(({ name, ...rest }) => `tool ${name} ${JSON.stringify(rest)}`),
    `toolChoice ${JSON.stringify(toolChoice)}`,
    ...Object.entries(settings).map(([name, value]) => `setting ${name} ${JSON.stringify(value)}`),
    `responseFormat ${JSON.stringify(responseFormat)}`,
  ]
}

/** Returns the last message of a request as one short line. */
export function requestTitle({ messages }: CassetteRequest): string {
  const last = messages.at(-1)
  const line = last === undefined ? 'no messages' : messageLines(last).join(' ')
  return line.length > 90 ? `${line.slice(0, 89)}…` : line
}

function messageLines({ role, content, ...rest }: Message): string[] {
  const fields = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`
  const parts = typeof content === 'string' ? [content] : content.map(partText)
  const [first = '', ...others] = parts.join('\n').split('\n')
  return [`${role}${fields}: ${first}`, ...others.map((line) => `  ${line}`)]
}

function partText(part: Part): string {
  if (part.type === 'text' && Object.keys(part).length === 2) return part.text
  const { type, ...fields } = part
  return `${type} ${JSON.stringify(fields)}`
}
