/** In the order of the table. */
const ofPackages = {
  'the stores, `memory` and `event-log`': /^(store|store-.*|memory)$/,
  core: /^core$/,
  'the server': /^server$/,
  'durable runs': /^durable$/,
  'guards, `model` and `observe`': /^(guard|model|observe|shared)$/,
  "the AI SDK's provider and `providers`": /^(providers|@ai-sdk\/.*|eventsource-parser)$/,
  'Hono and its adapter': /^(hono|@hono\/.*)$/,
}
const [sqlite, node, collection, kernel, compiler, rest] = [
  'SQLite, with its memory',
  'Node: fetch, HTTP, streams, timers',
  'garbage collection',
  'the kernel: files and sockets',
  "V8's compiler",
  'the rest',
]

/** The names of the causes. */
export const causes = [sqlite, node, collection, kernel, ...Object.keys(ofPackages), compiler, rest]

const collects =
  /v8::internal::(Heap::|Scavenge|MarkCompact|MainMarking|ConcurrentMarking|MarkingVisitor|IncrementalMarking|Sweeper|PagedSpace.*Sweep|ArrayBufferSweeper|EvacuateNewSpace|Evacuator|RootScavenge|YoungGeneration|PretenuringHandler|GCTracer)/
const compiles =
  /v8::internal::(compiler::|maglev::|baseline::|interpreter::Bytecode|Compiler::|Parser|PreParser|ParserBase|Scanner|OptimizingCompileDispatcher|OptimizedCompilationJob|TurbofanCompilationJob|BackgroundCompileTask)/

/**
 * The cause of a sample: what the innermost frame that says so belongs to. Native code counts as the function of JavaScript that
 * called it.
 *
 * @param {{ address: string, symbol: string, file: string }[]} frames the innermost first
 */
export function causeOf(frames) {
  if (/^ffff/.test(frames[0].address) && frames[0].address.length === 16) return kernel
  if (frames.some(({ file }) => file.includes('libsql'))) return sqlite
  for (const { symbol } of frames) {
    if (symbol.startsWith('JS:')) return ofScript(symbol)
    if (collects.test(symbol)) return collection
    if (compiles.test(symbol)) return compiler
  }
  return frames.some(({ symbol }) => /^(node::|uv_|llhttp)/.test(symbol)) ? node : rest
}

function ofScript(symbol) {
  if (symbol.includes(' node:')) return node
  const [, own] = symbol.match(/\/packages\/([^/]+)\/dist\//) ?? []
  const [, installed] = symbol.match(/.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/) ?? []
  const name = own ?? installed
  const [found] = Object.entries(ofPackages).find(([, names]) => name !== undefined && names.test(name)) ?? []
  return found ?? rest
}
