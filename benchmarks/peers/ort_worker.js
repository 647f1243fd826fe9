// ONNX Runtime's side of the comparison, with the line protocol of torch_worker.py. Started by peers.py with
// --expose-gc: the outputs of earlier passes must not count as memory that a pass needs.
'use strict';
const fs = require('fs');
const readline = require('readline');

function answer(fields) {
  process.stdout.write(JSON.stringify(fields) + '\n');
}

// The float32 values of a version 1 file; the case knows the shape.
function readNpy(path) {
  const file = fs.readFileSync(path);
  const begin = 10 + file.readUInt16LE(8);
  return new Float32Array(file.buffer.slice(file.byteOffset + begin, file.byteOffset + file.length));
}

class Network {
  static async load(ort, given) {
    const network = new Network();
    network.session = await ort.InferenceSession.create(given.onnx, {
      executionProviders: ['cpu'],
      graphOptimizationLevel: 'all',
      executionMode: 'sequential',
      intraOpNumThreads: given.threads,
      interOpNumThreads: 1,
      enableCpuMemArena: true,
    });
    const shape = [given.batch, given.channels, ...given.image];
    network.feeds = {input: new ort.Tensor('float32', readNpy(given.input), shape)};
    return network;
  }

  async output() {
    return (await this.session.run(this.feeds)).output.data;
  }

  // Times of `passes` passes behind `warmup` that are not counted.
  async samplesMs(warmup, passes) {
    for (let i = 0; i < warmup; ++i) await this.output();
    const samples = [];
    for (let i = 0; i < passes; ++i) {
      global.gc();
      const begin = process.hrtime.bigint();
      await this.output();
      samples.push(Number(process.hrtime.bigint() - begin) / 1e6);
    }
    return samples;
  }

  async writeOutput(path) {
    const data = await this.output();
    fs.writeFileSync(path, Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  }
}

async function main() {
  const lines = readline.createInterface({input: process.stdin})[Symbol.asyncIterator]();
  const given = JSON.parse((await lines.next()).value);
  const ort = require('onnxruntime-node');
  const network = await Network.load(ort, given);
  answer({version: require('onnxruntime-node/package.json').version});
  for await (const line of lines) {
    const question = JSON.parse(line);
    if (question.output) {
      await network.writeOutput(question.output);
      answer({});
    } else {
      answer({samples_ms: await network.samplesMs(question.warmup, question.passes)});
    }
  }
}

main().catch((error) => {
  answer({error: String(error.message).split('\n')[0]});
  process.exitCode = 1;
});
