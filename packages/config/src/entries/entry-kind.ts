import { isCodeFile } from './code.ts'
import { interpreterOf } from './interpreters.ts'

/** What the text of an entry is. */
export type EntryKind = 'shell' | 'file' | 'script' | 'inline' | 'unknown'

/**
 * `shell: command` is a command. One line that begins as a path does, or is nothing but a name, and ends with a known
 * extension is a file or a script; a path with another one is unknown. All else is TypeScript.
 */
export function kindOf(text: string): EntryKind {
  if (/^shell:/.test(text)) return 'shell'
  const rooted = /^(\.{1,2}|~)?\/(?![/*])[^\n]*$/.test(text)
  const named = /^[\p{L}\p{M}\p{N}_@.-][\p{L}\p{M}\p{N}_@. /-]*$/u.test(text)
  if (rooted || named) {
    if (isCodeFile(text)) return 'file'
    if (interpreterOf(text) !== undefined) return 'script'
    if (rooted) return 'unknown'
  }
  return 'inline'
}
