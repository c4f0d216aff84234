package io.orbitkv.client.wire;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Random payloads that are legal. */
final class PayloadSamples {
  private final Random random;

  PayloadSamples(Random random) {
    this.random = random;
  }

  QueryRequest query() {
    List<QueryRequest.GroupKeys> groups = new ArrayList<>();
    int groupId = -1;
    for (int i = 0; i < 1 + random.nextInt(4); i++) {
      groupId += 1 + random.nextInt(5);
      groups.add(new QueryRequest.GroupKeys(groupId, keys(random.nextInt(20))));
    }
    return new QueryRequest(random.nextInt(1 << 20), random.nextInt(1 << 20), name(), groups);
  }

  QueryAnswer answer() {
    List<QueryAnswer.GroupRange> groups = new ArrayList<>();
    int start = random.nextInt(1000);
    for (int i = 0; i < 1 + random.nextInt(4); i++) {
      int from = start + random.nextInt(100);
      groups.add(
          new QueryAnswer.GroupRange(i, from, from + random.nextInt(1000), random.nextInt(50)));
    }
    return new QueryAnswer(
        random.nextLong() >>> 1,
        random.nextInt(60_000),
        start,
        start + random.nextInt(5000),
        groups,
        boundaries());
  }

  private IntRun boundaries() {
    int[] some = random.ints(random.nextInt(30), 0, PayloadLimits.MAX_TOKEN + 1).toArray();
    int[] steps = IntRun.range(random.nextInt(100), random.nextInt(40)).toArray();
    return IntRun.of(
        IntStream.concat(Arrays.stream(some), Arrays.stream(steps)).sorted().distinct().toArray());
  }

  PublishRequest publish() {
    int count = 1 + random.nextInt(20);
    return new PublishRequest(random.nextInt(65_536), name(), keys(count), ints(count));
  }

  PublishReply reply() {
    byte[] codes = new byte[random.nextInt(40)];
    for (int i = 0; i < codes.length; i++) {
      codes[i] = (byte) random.nextInt(4);
    }
    return PublishReply.ofCodes(codes);
  }

  RestoreRequest restore() {
    List<RestoreRequest.GroupPages> groups = new ArrayList<>();
    for (int i = 0; i < 1 + random.nextInt(4); i++) {
      groups.add(
          new RestoreRequest.GroupPages(
              i * 3, random.nextInt(1 << 20), ints(1 + random.nextInt(20))));
    }
    return new RestoreRequest(name(), groups);
  }

  RefusalText text() {
    return new RefusalText("message " + random.nextInt() + " \u00e9", name());
  }

  private KeyRun keys(int count) {
    int keyBytes = 1 + random.nextInt(KeyRun.MAX_KEY_BYTES);
    byte[] packed = new byte[keyBytes * count];
    random.nextBytes(packed);
    return new KeyRun(packed, 0, keyBytes, count);
  }

  private IntRun ints(int count) {
    return IntRun.of(random.ints(count, 0, Integer.MAX_VALUE).toArray());
  }

  private String name() {
    StringBuilder name = new StringBuilder();
    for (int i = random.nextInt(65); i > 0; i--) {
      name.append((char) ('!' + random.nextInt('~' - '!' + 1)));
    }
    return name.toString();
  }
}
