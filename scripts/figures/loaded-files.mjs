// Imports modules in this process and prints the URL of each file that Node loads for it.
import { createRequire, register } from 'node:module'
import { pathToFileURL } from 'node:url'

const hook = `import { writeSync } from 'node:fs'
export async function load(url, context, next) {
  writeSync(1, url + '\\n')
  return next(url, context)
}`
register(`data:text/javascript,${encodeURIComponent(hook)}`)
for (const module of process.argv.slice(2)) await import(module)
for (const file of Object.keys(createRequire(import.meta.url).cache)) console.log(pathToFileURL(file).href)
