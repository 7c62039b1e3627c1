import type { Message } from '@allium/core'

const unnumbered = /^\[[a-z][a-z0-9_]{0,40}\]$/

/**
 * Returns an argument that is nothing but a recalled placeholder, such as the recipient `[email]`. Its value belongs to another conversation,
 * so the call would use the word itself.
 *
 * @param request only placeholders that the model has read count
 */
export function placeholderIn(args: unknown, request: readonly Readonly<Message>[]): string | undefined {
  const found = placeholdersOf(args)
  if (found.length === 0) return undefined
  const text = JSON.stringify(request.map(({ content }) => content))
  return found.find((placeholder) => text.includes(placeholder))
}

function placeholdersOf(value: unknown): string[] {
  if (typeof value === 'string') return unnumbered.test(value.trim()) ? [value.trim()] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(placeholdersOf) : []
}
