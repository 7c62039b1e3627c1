import type { ClientInput } from '@allium/server/client'

export function inputText(input: ClientInput): string {
  if (typeof input === 'string') return input
  return input.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

export function isEmptyInput(input: ClientInput): boolean {
  return typeof input === 'string' ? input.trim() === '' : input.length === 0
}
