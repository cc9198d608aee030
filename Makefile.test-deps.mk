# What some tests need beside the virtual environment. Tests skip what is missing, and fail for it where CI=true.

KB_KAFKA_LIBS ?= $(HOME)/.cache/agent-knowledge-base/kafka-4.3.1/libs
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

.PHONY: test-deps test-deps-kafka test-deps-chromium test-deps-promtool

test-deps: test-deps-kafka test-deps-chromium test-deps-promtool ## Install all that tests need (Kafka, Chromium, promtool)

test-deps-kafka: $(KB_KAFKA_LIBS)/kafka_2.13-4.3.1.jar ## Fetch the jars of Apache Kafka with Maven (Java 17)

# Copied beside and renamed when whole, so that a broken download is never taken for Kafka.
$(KB_KAFKA_LIBS)/kafka_2.13-4.3.1.jar: deploy/kafka/pom.xml
	rm -rf "$(KB_KAFKA_LIBS).new"
	mvn -q -B -f deploy/kafka/pom.xml dependency:copy-dependencies \
		-DincludeScope=runtime -DoutputDirectory="$(KB_KAFKA_LIBS).new"
	rm -rf "$(KB_KAFKA_LIBS)"
	mv "$(KB_KAFKA_LIBS).new" "$(KB_KAFKA_LIBS)"
	touch "$@"

test-deps-chromium: ## Install Chromium for the browser tests (Debian, Ubuntu)
	command -v chromium >/dev/null || { $(SUDO) apt-get update && $(SUDO) apt-get install -y --no-install-recommends chromium; }

# The package's server would start at once; the tests want its promtool alone.
test-deps-promtool: ## Install promtool for the tests of alert rules (Debian, Ubuntu)
	command -v promtool >/dev/null || { $(SUDO) apt-get update && \
		$(SUDO) env RUNLEVEL=1 apt-get install -y --no-install-recommends prometheus; }
