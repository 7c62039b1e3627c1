import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

const maps = new Map()

/**
 * The file and line of the source that a place in a built file came from.
 *
 * @param {string} url
 * @param {number} line from 0
 * @param {number} column from 0
 */
export function sourcePlace(url, line, column) {
  const entry = url.startsWith('file:') ? mapOf(url)?.findEntry(line, column) : undefined
  if (entry?.originalSource === undefined) return `${basename(url)}:${line + 1}`
  const [owner] = url.match(/[^/]+(?=\/dist\/)/) ?? ['']
  return `${owner}/${entry.originalSource.replace(/^.*?\bsrc\//, '')}:${entry.originalLine + 1}`
}

function mapOf(url) {
  if (!maps.has(url)) {
    const file = `${fileURLToPath(url)}.map`
    maps.set(url, existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : undefined)
  }
  return maps.get(url)
}
