import { isCodeFile } from './code.ts'
import { interpreterOf } from './interpreters.ts'

/** The kind of an entry's text. */
export type EntryKind = 'shell' | 'file' | 'script' | 'inline' | 'unknown'

/**
 * `shell: command` is a command. A single line that looks like a path or a plain name, and ends with a known extension, is a file or a
 * script. A path with another extension is unknown. All other text is TypeScript.
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
