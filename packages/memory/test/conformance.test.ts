import { layerConformance } from '@allium/testing'
import { describe, it } from 'vitest'
import { persist } from '../src/index.ts'

layerConformance({ layer: () => persist(), describe, it, strict: true })
