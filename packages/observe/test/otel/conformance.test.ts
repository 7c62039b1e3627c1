import { layerConformance } from '@allium/testing'
import { describe, it } from 'vitest'
import { metrics, trace } from '../../src/otel.ts'
import { memoryTracing } from './tracing.ts'

layerConformance({ layer: () => trace({ tracer: memoryTracing().tracer, content: true }), describe, it, strict: true })
layerConformance({ layer: () => metrics(), describe, it, strict: true })
