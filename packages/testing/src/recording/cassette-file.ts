import { type Cassette, checkCassette } from './cassette-data.ts'
import { cassetteText } from './cassette-text.ts'
import { recordingError } from './recording-error.ts'

/**
 * Reads a cassette; undefined if the file does not exist.
 *
 * @throws AlliumError `test.cassette` for a file that is not a cassette
 */
export async function loadCassette(path: string): Promise<Cassette | undefined> {
  const text = await files()
    .readFile(path, 'utf8')
    .catch((error) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
  if (text === undefined) return undefined
  const value = parse(text, path)
  checkCassette(value, `The file ${path}`)
  return value
}

/** Writes a cassette, and creates its folders. Other processes see the old file or the new one, never a partial file. */
export async function saveCassette(path: string, cassette: Cassette): Promise<void> {
  const { mkdir, rename, writeFile } = files()
  await mkdir(process.getBuiltinModule('node:path').dirname(path), { recursive: true })
  const draft = `${path}.${process.pid}.tmp`
  await writeFile(draft, cassetteText(cassette))
  await rename(draft, path)
}

/** Loaded at the call, so that a browser bundle can use the rest of this package. */
function files() {
  const fs = globalThis.process?.getBuiltinModule?.('node:fs/promises')
  if (fs === undefined)
    throw recordingError('This runtime has no file system. Use recordModel() and replayModel(cassette).')
  return fs
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw recordingError(`The file ${path} is not JSON. Record it again.`, { path }, error)
  }
}
