import { gunzipSync } from "node:zlib";

/** Files as version 4 of the encoder wrote them, which knew no own members. Gzip in base64. */

function file(...parts: string[]): Uint8Array {
  return new Uint8Array(gunzipSync(Buffer.from(parts.join(""), "base64")));
}

const HEAD = (at: number) =>
  `{"timestamp":"2026-11-22T08:00:0${at}.000Z","level":"info","category":"custom","type":"log","message":"m${at}"`;

/** Entries whose clients sent `service` and `host` beside the message: that version moved them to `data`. */
export const EARLIER_LINES = [
  `${HEAD(1)},"data":{"service":"checkout","status":200}}`,
  `${HEAD(2)},"data":{"service":"search","host":"web-1","status":500}}`,
  `${HEAD(3)},"data":{"service.name":"checkout"}}`,
  `${HEAD(4)},"data":{"service":{"name":"search","version":2}}}`,
  `${HEAD(5)}}`,
];
export const EARLIER_FILE: Uint8Array = file(
  "H4sIAAAAAAACA8WXX2zbRBzHz46Tpmlo065nuSgaW1itPJSStEm6VhViaA88VKiUvUCpKse5NBlx3NluWZkqdQWNAUNiA8YfjYHKRAcS4olRpo",
  "EqIQFCU1UQmsYeeFrRJsSgoxpitBLn88WxnQpUXkir+Py7z/fnu/t9z9cO7hlKQgBbYQd8Zfb8xfooDOGfAAwAEP/43o13QgCAhwGYYTg/y+I2",
  "oPD8uYWvfP8AtwIK74C74cb1S6fqvHAE9x+24OWP5s8sFpabqGQ7zMBnXrx5pMErMYEpSzJz5cf5xYL1EA5GYBxurL6/1NQPWQgoHcSNPQBw+F",
  "Is51Wc2MTO/rn6ScBMHHEkpqg5Qd9dwIczmnOcfe/KD6wzI50fVgF5QjdUZWs5G6EIXz75zW3OmbMON3oxgi8ldWwrCQFMwQF44Y9Pb5BChB3o",
  "nZj5toKay8WRlVKSSpfSraSUNBaH4S749uzaa6QwwCE2p5ekYvD/gv1wHzy88uy7Ye8Et2NilYI+PEE2Yi4gkAtIfkKdMHQkaXIBJ9iFU2x8uX",
  "yL81qpBdPHnQle8l3mHJa9ufTmrzXLSi1LRCwWMaEnUfYec//EYB98a/nzW36vpBmzz1FJ0JSE7bHxsBOufHZtpWZnNGD4UaeGw7QI74OnZr/4",
  "kPM+YRvG3qA0Z9KRyipgy91m4AkW/nL6/PPYdEHbdNO4cd0HBHw5FNORNlmUUazv7o6YbkjGhI6b0ztr+gqqbnigFifUWZYUk5yOuaWHYrSjIz",
  "aJNL2olk1omr5Ifj8+82qN1elGI3NqYn1Xt2Aarm0dPuhHZUObgnF82w4En44OWK2ArCpK0bBu6o2igvBclPH2loFjzdEofZvgrgYNyag4iXKj",
  "kuHqDLezgr+EJlGpHQxEK5GgLBloTNWmnEHOmBpHzkAdfpoujbljOo7hFXFlMzRJRqPFnBscl8re2LhkGEhzicM5yZA66dpXOjjc0WB1kNJZaD",
  "2JmFV1Jmh2JiAldWZpdfXSclpC0jXsNsOIM7NfL0juFeE0ZD+cD7VF29ZbRRDFJWwPBdpI2WCYD/EP8I+Jwf4MiAf9wPoIQQbYH4eE1tdWZYkq",
  "ZKtCm6qqRiDCh/i8eIEhyqN/7WXnGFN57Wer5VY6fUK0A3xOnGOJdubSIaqttKg23JYGESy2fERkBn+GEb/3iUd8USzlzONKIN8eiW00ojrIn2",
  "XEdU78gDNVAetIEujVoyRuJCqNn2PE0wHxO7+p8uFDRzC/bL49jPGKV4kiyz8lrgXwpKoMMBnqXcL08UPijbr+TMjN2F62ocVgDVTxts2cqK9l",
  "qNdt5qqbMQft8j4B9/OzjHgu1J8JeOrm2AwEHOL3iwsNmIsH15iKW752u4U+pbptbLfMhfszQTdVu40IPcgXxKN3VGk6nk23FRHs5R8XfzMF8S",
  "Br25jddGCbbkCSZB9fEi82OsdIHUh2JEF+YvmTPnGtWVxoimbYeEvtW13Y+a/HgbtkZHfb9VpqserFX27kQ2KQf30baDsmNBlSPq9JxVJnXtUU",
  "yRCYJBAidhCVZTWHNIFJOaPjmrofyYbQbDZGE9UP1jZXExY13XgEHfCkLEk0mgZCox2V1YmyQWLVEeHF6UpnhPt7dsupdKY3Kee6s13ZPOpJpH",
  "L5TEZO5VB3IpftTaRQjyz1ZhPZVBIlulE6lZYyiVxvriuZQendkvPpslqaUMq68AIzPBwz0EEj1mEv6kjHcKxYxvsbaTF7Vc0g5ciCO+4rug7r",
  "fPXI7c7KmVurpBYZAUK4MsAdyc4UfgvjF/J//gVP4z9pB/G/FX8DSmceAVsMAAA=",
);

/** Entries of a later version, which that version encoded while both ran: the lines with own members are whole. */
export const FOREIGN_LINES = [
  `${HEAD(1)},"service":"checkout","data":{"status":200}}`,
  `${HEAD(2)},"service":"search","host":"web-1"}`,
  `${HEAD(3)},"data":{"service":"checkout","status":200}}`,
];
export const FOREIGN_FILE: Uint8Array = file(
  "H4sIAAAAAAACA8WWf0wbZRjH3+tdS4HbWnDv5ZoUxQ4ubBLsDzhgIdMpMWxDs4HZHyOIx/Xt6OwPuB4IbiaIcy6ELBjNljGzKcFNcWIk2cIy/y",
  "AxMbg4M6cQbQgjGo1uMYY4l2UZ6ntvr8e16BL+8gK9p8/7/Tz3Pj/uTXdta/JBADfAcrg4d2nJ6oY2mIf/bQCUnX90+Z08AMBuAPophrZYsA10",
  "8Tc/XLzruI94A9DFxbAGTv36+m9sttiJ119Jia9+fHZsuuOqQ0cehCK89NPiYG42ogn6Ukh/cuHsdEfqIQx0wjK4vPTBV446aIFAV9uxsQ0ABt",
  "/CsVAcB9ZkU5MLbzFaYKcpsC7VEqRzAI0jajkOnEl+bzFH1PPDFJC7E2o8uraY66EA3zx2+S5jjpmDjVoswbdIfN9aAgK8xXqYvHDtDJGyJimH",
  "NZ+kpVq5GFKpqC/qjwYwyMISeHrg1vEcDQQmUEvNp4Pg/xUKcCt8e+Czj1Yl9wBWnNCFDE6OcsodSH4h3q1iiodemOxfOm/Pnh0WyyUzNay1pA",
  "E+D8dHrnzN1uEv6ZaUYONhigxOJBxDPL4f8CSQ0hOWkWfLxnJPQpXU7gQ2X8ZPLISb4bsXbo87svuVi7nt6SZQNI4Pv2Ng0gLnZ28cp7KzKqcA",
  "OKKrabw/y5ilgPSMAZOXHyrq3H7Sdz3nghAZGqbP7bHefLJldlPD6YaXft/593XnlSPFM4eWZkMHxWOjTc37Ry4dujm5/096Yg88uPBe0bnKud",
  "6JV3c3PbZRPPVa09O3L3bM9AqHl79M3pj8fN2OR5TZu/Os82hXyYn6rY75VqpoQZrOHasvrgdjO3/Mbf7wi6PLThosOsGtHZun3rBAxnWvoMGK",
  "YqrSB4vxy1cKeDqBulKWTY5Ho2E19SVXDUcRrlW0s7SwcajA7dZfV7yUryAZhXtQsE1SMxbZUgtvjaAeFCkFje60xy5LKtoXV/rMTkbt60RmRw",
  "5+WkLal+lLYF84HsuIpiqSjNrCwUxhpxTL9nVKqoqUDJgNSqpUoU9DeoHBC/mpBTIaeh6JDilzh4yC66E7OJvL7brnFIAbl7Q0z+YiZYQsZ+Oe",
  "4PYK9joRlNlpkLp4OwWMy4To9TaodkLlGVTev1IrjSHgM1xI+JQi5NQf9ZZRSiN/uZmyMklz3wjbyAWFUQth++cO6Gza0lnWVQWcGE71lWAqN0",
  "YJ39LCYdqNUUY7n3nymYUYjSdUL/c+JdxjhHFGo2ypM5jX71kkmQ5CKdwoJZyyCdesGkXjU5bXPgx9KYvl6dkhxF5OEW7ZcFIrGqBp9Fkimi1c",
  "k/BzTp1oy9QYs2WIpuyrROlZMzSDuas1+uwZmvlMjbbpjFkkwme5iMvNF6pSKKRI4UgFiiTQix1IQTzlB9xEXp3IZDXUNLUkwlPcc/eJMJKPI5",
  "TZZ4wBm8kcMKPVZPRJwAmKW6CEv1jhTr5Wf/6/jlKe0Q7bzATJ+0KiDFq5IVqYW1cnaickN+zgbIKdSzqBa4h3GJsNxZWopPKUD/DOlQxicjyI",
  "FJ6qNHs7lfh+JKt8gWa0eVcuzBasBAwrCbUZdWWFjEi6NwD49YZXjnfHVOJb2RGug79K5B/3iTVibaiqKlgtBQJ+1F5T4xfFgFdCwUB1MBCQvN",
  "VBsVYO1vi9Phn5awOoUpRC3oAXVVdWVflq281Pl+OR7mgswW9qafGoqFf1lBslbS1v8YRj+JVBiscobmsr4Nk0XeyrqMTHDj6B1vQH7lgB2IV/",
  "LP4DHMYpXTEKAAA=",
);
