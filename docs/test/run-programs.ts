import { pathToFileURL } from 'node:url'

/** What one program printed, or why it failed. */
export interface Outcome {
  file: string
  printed: string
  error?: string
}

const maxMs = 20_000
const write = process.stdout.write
let late: unknown

process.on('unhandledRejection', (error) => {
  late = error
})

/** A process that runs the programs named by its arguments, one after the other, and reports each to its parent. */
for (const file of process.argv.slice(2)) {
  const outcome: Outcome = { file, printed: '' }
  late = undefined
  process.stdout.write = ((chunk: unknown) => {
    outcome.printed += String(chunk)
    return true
  }) as typeof write
  let timer: NodeJS.Timeout | undefined // it keeps the process alive, too, for a program that waits for an unref'd one
  try {
    const tooLong = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`It did not end within ${maxMs} ms.`)), maxMs)
    })
    await Promise.race([import(pathToFileURL(file).href), tooLong])
    await new Promise((resolve) => setImmediate(resolve))
    if (late !== undefined) throw late
  } catch (error) {
    outcome.error = error instanceof Error ? `${error.stack}` : String(error)
  }
  clearTimeout(timer)
  process.stdout.write = write
  await new Promise((resolve) => process.send?.(outcome, resolve))
}
process.exit()
