import type { Version } from '../packages.ts'
import type { Recording } from '../recording.ts'
import { recordings as citations } from './citations.ts'
import { recordings as clientTools } from './client-tools.ts'
import { recordings as codeInterpreter } from './code-interpreter.ts'
import { recordings as compaction } from './compaction.ts'
import { recordings as deferredResults } from './deferred-results.ts'
import { recordings as files } from './files.ts'
import { recordings as finishMetadata } from './finish-metadata.ts'
import { recordings as parallelCalls } from './parallel-calls.ts'
import { recordings as serverTools } from './server-tools.ts'
import { recordings as thinking } from './thinking.ts'
import { recordings as warnings } from './warnings.ts'

const shapes = {
  citations,
  'client tools': clientTools,
  'code interpreter': codeInterpreter,
  compaction,
  'deferred results': deferredResults,
  files,
  'finish metadata': finishMetadata,
  'parallel calls': parallelCalls,
  'server tools': serverTools,
  thinking,
  warnings,
}

/** Every whole answer, in every version of the specification that its package speaks. */
export const cases = Object.entries(shapes).flatMap(([shape, recordings]) =>
  recordings.flatMap((one) => inVersions(shape, one)),
)

export function inVersions(shape: string, recording: Recording) {
  const versions = Object.keys(recording.models) as Version[]
  return versions.map((version) => ({ title: `${shape}: ${recording.name}, ${version}`, recording, version }))
}
