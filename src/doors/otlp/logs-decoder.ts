import type { Steps, TurnMeter } from "../../platform/turns.ts";
import type { DoorDecoder } from "../decoder.ts";
import type { DoorEntrySink } from "../entry.ts";
import { JSON_TYPE, PROTOBUF_TYPE } from "./answers.ts";
import { JsonLogsDecoder } from "./json-decoder.ts";
import { ProtobufLogsDecoder } from "./protobuf-decoder.ts";

const OPEN_BRACE = 0x7b;
const SPACE = 0x20;
const MARK = 0xef;

/** Reads a request of OTLP in the encoding that its media type names; without one, in the encoding of its first byte. */
export class LogsDecoder implements DoorDecoder {
  /** The media type of the encoding. */
  type: string;
  readonly #sink: DoorEntrySink;
  readonly #meter: TurnMeter;
  #decoder: DoorDecoder | null = null;

  /** @param type `null` if the request has none */
  constructor(type: string | null, sink: DoorEntrySink, meter: TurnMeter) {
    this.type = type ?? PROTOBUF_TYPE;
    this.#sink = sink;
    this.#meter = meter;
    if (type !== null) this.#decoder = this.#made();
  }

  get held(): number {
    return this.#decoder?.held ?? 0;
  }

  *read(chunk: Uint8Array): Steps<void> {
    if (this.#decoder === null && chunk.length > 0) {
      const [first] = chunk;
      this.type = first === OPEN_BRACE || first === SPACE || first === MARK ? JSON_TYPE : PROTOBUF_TYPE;
      this.#decoder = this.#made();
    }
    if (this.#decoder !== null) yield* this.#decoder.read(chunk);
  }

  *end(): Steps<void> {
    if (this.#decoder !== null) yield* this.#decoder.end();
  }

  #made(): DoorDecoder {
    const Decoder = this.type === JSON_TYPE ? JsonLogsDecoder : ProtobufLogsDecoder;
    return new Decoder(this.#sink, this.#meter);
  }
}
