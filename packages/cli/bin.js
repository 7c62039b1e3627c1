#!/usr/bin/env node
// In a clone, pnpm links this file before the first build creates ./dist.
import './dist/bin.js'
